// Many services at once: what they share is asked once for all, so that each costs the same however many there are.
import { createHook } from 'node:async_hooks';
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import t from 'tap';
import { startHost } from '../../support/host.ts';
import { until } from '../../support/until.ts';

const COUNT = 40;
const skip = process.getuid?.() === 0 ? false : 'without another user nobody is asked what a user reaches';

/** Counts the children of this process from now on. */
function countForks(): () => number {
  let count = 0;
  const hook = createHook({
    init(_id, type) {
      if (type === 'PROCESSWRAP') count += 1;
    },
  }).enable();
  return () => {
    hook.disable();
    return count;
  };
}

/** Counts the calls of a function of node:fs from now on whose first argument fits. */
function countCalls(name: 'readdirSync' | 'renameSync', fits: (file: string) => boolean): () => number {
  let count = 0;
  const original = fs[name] as (...args: unknown[]) => unknown;
  const replace = (fn: unknown): void => {
    Object.assign(fs, { [name]: fn });
    syncBuiltinESMExports();
  };
  replace((...args: unknown[]) => {
    if (fits(String(args[0]))) count += 1;
    return original(...args);
  });
  return () => {
    replace(original);
    return count;
  };
}

t.test('a boot forks for each service once, and a stop looks around for all at once', { skip }, async t => {
  const blocks = Array.from({ length: COUNT }, (_, index) => [
    `sleeper_${index}`,
    { enabled: true, process_name: `Sleeper ${index}`, command: ['sleep', '600'], config_dir: '/' },
  ]);
  const forks = countForks();
  const records = countCalls('renameSync', file => file.endsWith('state.json.new'));
  const app = await startHost({ plugins: ['process', 'config'], config: Object.fromEntries(blocks) });
  const running = async (): Promise<number> => {
    const { body } = await app.get('/process/processes');
    return body.processes.filter(({ status }: { status: string }) => status === 'running').length;
  };
  await until(async () => (await running()) >= COUNT, { timeoutMs: 60_000 });
  const forked = forks();
  t.ok(forked >= COUNT, `${forked} forks`);
  t.ok(forked < COUNT * 1.5, `${forked} forks for ${COUNT} services`);
  const written = records();
  // Each has two records, of its beginning and of its pid; those that come while one is being written share the next.
  t.ok(written < COUNT, `${written} writes of the state for ${COUNT} services`);

  const looks = countCalls('readdirSync', directory => directory === '/proc');
  await app.stop();
  const looked = looks();
  t.ok(looked < COUNT, `${looked} looks at the processes for ${COUNT} services`);
});
