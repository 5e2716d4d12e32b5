// Starts that updates owe: tried until they succeed, fail for another reason, or somebody else decides.
import t from 'tap';
import { Problem } from '../../../core/contract/problem.ts';
import { OwedStarts } from '../../../plugins/updates/owed-starts.ts';

const NAME = 'Gadget';
const told = { meanwhile: 'not ready; its start is tried again by itself', afterwards: 'in place again' };
const FULL = new Problem(507, 'the disk is full');

/** `attempts`: how the starts end, one after the other. */
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

t.test('they are tried until one succeeds', async t => {
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

t.test('one that fails for another reason is told, and not tried again', async t => {
  const attempts = [FULL, new Problem(400, 'its program run.sh is gone'), null];
  const { look, told: now } = open(attempts);
  await look();
  await look();
  t.equal(now(), 'in place again, but not ready: its program run.sh is gone');
  await look();
  t.equal(attempts.length, 1);
});

t.test('whoever starts or stops it meanwhile has decided', async t => {
  for (const process of [{ status: 'running' }, { status: 'stopped', stoppedByUser: true }]) {
    const attempts = [null];
    const { look, told: now } = open(attempts, process);
    await look();
    t.equal(attempts.length, 1, process.status);
    t.equal(now(), told.afterwards);
  }
});

t.test('one that is held is left for later', async t => {
  const attempts = [null];
  const { look, told: now } = open(attempts, { status: 'stopped', held: { reason: 'an update' } });
  await look();
  t.equal(attempts.length, 1);
  t.equal(now(), told.meanwhile);
});
