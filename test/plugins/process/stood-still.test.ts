// A host that stands still in its shutdown for longer than the shutdown may take, as after SIGSTOP or in a paused
// virtual machine, still waits for the end of its services before it reports that they live on.
import t from 'tap';
import { shutDown } from '../../../plugins/process/boot/shutdown.ts';

/** Longer than the budget of the shutdown, and than the time that a process has to end after it. */
const STANDS_MS = 6_500;

t.test('a shutdown that stood still still ends its services', async t => {
  let isLeft = true;
  const service = {
    block: { processName: 'Service' },
    livingPids: () => (isLeft ? [1] : []),
    // The end of a process is noticed in a later turn of the event loop.
    stop: (_trigger: string, hurry: AbortSignal) =>
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
  // Runs after the timers of the shutdown were set.
  setImmediate(() => setImmediate(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, STANDS_MS)));
  await t.resolves(done);
  t.same(
    told.filter(text => !text.startsWith('stopping') && !text.startsWith('still alive: ')),
    [],
  );
});

t.test('a stop of many services causes no warning of Node', async t => {
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
