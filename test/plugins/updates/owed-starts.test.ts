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
    get: () => ({ held: null, stoppedByUser: false, ...process }),
    start: async () => {
      const fault = attempts.shift();
      if (fault instanceof Error) throw fault;
    },
  };
  const host = {
    stopping: null,
    log: { info: () => undefined },
    paced: (ms: number) => ms,
    every: (_ms: number, fn: typeof look) => {
      look = fn;
    },
    find: () => supervisor,
  };
  const records = {
    result: () => result,
    setResult: async (_name: string, next: typeof result) => {
      result = next;
    },
  };
  const owed = new OwedStarts(host as never, records as never);
  owed.owe([NAME], { updated: NAME, told });
  return { look: () => look(), told: () => result.message };
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

t.test('a held service is tried later', async t => {
  const attempts = [null];
  const { look, told: now } = open(attempts, { status: 'stopped', held: { reason: 'an update' } });
  await look();
  t.equal(attempts.length, 1);
  t.equal(now(), told.meanwhile);
});
