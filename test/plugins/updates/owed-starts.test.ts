// Starts that updates owe: repeated until one succeeds, fails for another reason, or somebody else decides.
import t from 'tap';
import { Problem } from '../../../core/contract/problem.ts';
import { OwedStarts } from '../../../plugins/updates/owed-starts.ts';

const NAME = 'Gadget';
const told = { meanwhile: 'not ready; its start is tried again by itself', afterwards: 'in place again' };
const FULL = new Problem(507, 'the disk is full');

/** `attempts` are the results of the starts, one after the other. */
function open(attempts: (Error | null)[], process: Record<string, unknown> = { status: 'stopped' }) {
  let look = async (): Promise<void> => undefined;
  let result = { message: told.meanwhile };
  const supervisor = {
    settledMs: 0 as number | null,
    get: () => ({ held: null, stoppedByUser: false, enabled: true, completed: null, ...process }),
    start: async () => {
      const fault = attempts.shift();
      if (fault instanceof Error) throw fault;
    },
  };
  const host = {
    stopping: null as string | null,
    log: { info: () => undefined },
    paced: (ms: number) => ms,
    every: (_ms: number, fn: typeof look) => {
      look = fn;
    },
    find: () => supervisor,
    use: () => supervisor,
  };
  const owedStarts = new Map([[NAME, { updated: NAME, ...told }]]);
  const records = {
    owedStarts: () => owedStarts,
    setOwedStart: async (name: string) => {
      owedStarts.delete(name);
    },
    result: () => result,
    setResult: async (_name: string, next: typeof result) => {
      result = next;
    },
  };
  new OwedStarts(host as never, records as never);
  return { look: () => look(), told: () => result.message, supervisor, host };
}

t.test('owed starts are repeated until one succeeds', async t => {
  const attempts = [FULL, FULL, null, null];
  const { look, told: now } = open(attempts);
  await look();
  await look();
  t.equal(now(), told.meanwhile);
  await look();
  t.equal(now(), told.afterwards);
  await look();
  t.equal(attempts.length, 1, 'and not once more');
});

t.test('a start that fails for another reason is reported, and not repeated', async t => {
  const attempts = [FULL, new Problem(400, 'its program run.sh is gone'), null];
  const { look, told: now } = open(attempts);
  await look();
  await look();
  t.equal(now(), 'in place again, but not ready: its program run.sh is gone');
  await look();
  t.equal(attempts.length, 1);
});

t.test('a start or stop by somebody else ends the repetition', async t => {
  for (const process of [{ status: 'running' }, { status: 'stopped', stoppedByUser: true }]) {
    const attempts = [null];
    const { look, told: now } = open(attempts, process);
    await look();
    t.equal(attempts.length, 1, process.status);
    t.equal(now(), told.afterwards);
  }
});

t.test('a service that was disabled, or has done its work, is not started', async t => {
  for (const process of [{ enabled: false }, { completed: true }]) {
    const attempts = [null];
    const { look, told: now } = open(attempts, { status: 'stopped', ...process });
    await look();
    t.equal(attempts.length, 1, JSON.stringify(process));
    t.equal(now(), told.afterwards);
  }
});

t.test('nothing is tried while a host boots or stops', async t => {
  const attempts = [new Problem(503, 'the host stops'), null];
  const { look, told: now, supervisor, host } = open(attempts);
  supervisor.settledMs = null;
  await look();
  supervisor.settledMs = 1;
  host.stopping = 'SIGTERM';
  await look();
  t.equal(attempts.length, 2);
  t.equal(now(), told.meanwhile);
});

t.test('a held service is tried later', async t => {
  const attempts = [null];
  const { look, told: now } = open(attempts, { status: 'stopped', held: { reason: 'an update' } });
  await look();
  t.equal(attempts.length, 1);
  t.equal(now(), told.meanwhile);
});
