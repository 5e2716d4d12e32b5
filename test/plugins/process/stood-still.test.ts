// A host that stood still in its shutdown for longer than that may take, as one that is stopped by SIGSTOP or in a
// virtual machine that is paused, still sees to the end of its services before it says that they live on.
import t from 'tap';
import { shutDown } from '../../../plugins/process/boot/shutdown.ts';

/** Longer than the budget, and than what a process may take to end after it. */
const STANDS_MS = 6_500;

t.test('a shutdown that stood still', async t => {
  let isLeft = true;
  const service = {
    block: { processName: 'Service' },
    livingPids: () => (isLeft ? [1] : []),
    // Its end is noticed in a later turn of the loop.
    stop: ({ hurry }: { readonly hurry: AbortSignal }) =>
      new Promise<void>(resolve =>
        hurry.addEventListener('abort', () =>
          setTimeout(() => {
            isLeft = false;
            resolve();
          }, 1),
        ),
      ),
  };
  const told: string[] = [];
  const note = (text: string) => void told.push(text);
  const log = { debug: note, info: note, warn: note, error: note };
  const done = shutDown({ tiers: [[service as never]], budgetMs: 50, log });
  // After its timers were set.
  setImmediate(() => setImmediate(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, STANDS_MS)));
  await t.resolves(done);
  t.same(
    told.filter(text => !text.startsWith('stopping') && !text.startsWith('still alive: ')),
    [],
  );
});

t.test('a stop of many services is none of what Node warns of', async t => {
  const warnings: Error[] = [];
  const note = (warning: Error) => void warnings.push(warning);
  process.on('warning', note);
  t.teardown(() => process.off('warning', note));
  const tier = Array.from({ length: 20 }, (_, index) => ({
    block: { processName: `Service ${index}` },
    livingPids: () => [],
    stop: () => new Promise<void>(resolve => setImmediate(resolve)),
  }));
  const say = () => undefined;
  await shutDown({ tiers: [tier as never], budgetMs: 60_000, log: { debug: say, info: say, warn: say, error: say } });
  await new Promise(resolve => setImmediate(resolve));
  t.same(warnings, []);
});
