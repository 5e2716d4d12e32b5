// A call to a request manager leaves nothing behind in the signals that end all calls.
import { setImmediate as turn } from 'node:timers/promises';
import t from 'tap';
import { WorkQueue } from '#kit/work-queue';
import { HttpRequestManager } from '../../../plugins/request-sync/http-request-manager.ts';
import { heldBytes } from '../../support/held-memory.ts';

const CALLS = 20_000;
const CALLS_A_TURN = 100;
/** A signal that depends on another and stays known to it takes about 80 bytes. */
const MOST_BYTES_PER_CALL = 30;

t.test('reads keep no memory', async t => {
  const [stopping, all] = [new AbortController(), new AbortController()];
  const fetch = async () => ({ status: 200, headers: {}, text: '', json: () => ({ version: '1' }) });
  const manager = new HttpRequestManager({
    host: { fetch: fetch as never, paced: () => 0 },
    address: 'http://127.0.0.1',
    apiKey: 'key',
    lane: new WorkQueue({ concurrency: 1 }),
    stopping: stopping.signal,
    signal: all.signal,
  });
  const read = async (calls: number): Promise<void> => {
    for (let call = 0; call < calls; call += 1) {
      await manager.status();
      // V8 keeps the targets of new weak references until the loop turns.
      if (call % CALLS_A_TURN === 0) await turn();
    }
    await turn();
  };
  await read(CALLS);
  const before = heldBytes();
  await read(CALLS);
  const perCall = (heldBytes() - before) / CALLS;
  t.ok(perCall < MOST_BYTES_PER_CALL, `${perCall} bytes for each call`);
});
