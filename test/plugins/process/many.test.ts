// Many services at once: shared facts are read once for all, so that the cost per service stays the same.
import { createHook } from 'node:async_hooks';
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import path from 'node:path';
import t from 'tap';
import { testDir } from '../../support/directory.ts';
import { pluginsDir, startHost } from '../../support/host.ts';
import { until } from '../../support/until.ts';

const COUNT = 40;
const AT_ONCE = 12;
/**
 * Starts many services in one turn of the event loop, and notes the turn in which each is prepared, which takes 6 ms.
 */
const HASTY = `import { appendFileSync } from 'node:fs';
export default { name: 'hasty', host: '^1', needs: ['process'], setup(host) {
  let turn = 0;
  let next = setImmediate(function count() { turn += 1; next = setImmediate(count); });
  host.tap('process.prepare', plan => {
    appendFileSync(process.env.SEEN_TURNS, turn + '\\n');
    for (const sinceMs = performance.now(); performance.now() - sinceMs < 6;);
    return plan;
  });
  host.tap('host.ready', () => {
    const supervisor = host.use('process.supervisor');
    for (const { processName, isHost } of supervisor.blocks())
      if (!isHost) supervisor.start(processName, 'request').catch(() => undefined);
  });
  return () => clearImmediate(next);
} }`;
const skip = process.getuid?.() === 0 ? false : 'without another user nobody is asked what a user reaches';

/** Starts to count the child processes of this process. */
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

/** Starts to count calls of a function of node:fs whose first argument matches. */
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
  // Each start has two records, at its beginning and with its pid; those during a write share the next write.
  t.ok(written < COUNT, `${written} writes of the state for ${COUNT} services`);

  const looks = countCalls('readdirSync', directory => directory === '/proc');
  await app.stop();
  const looked = looks();
  t.ok(looked < COUNT, `${looked} looks at the processes for ${COUNT} services`);
});

t.test('starts that are asked for in one turn are prepared in several', async t => {
  const dir = testDir(t, { plugins: { hasty: { 'index.mjs': HASTY } } });
  const seen = path.join(dir, 'turns');
  process.env.SEEN_TURNS = seen;
  t.teardown(() => delete process.env.SEEN_TURNS);
  const blocks = Array.from({ length: AT_ONCE }, (_, index) => [
    `sleeper_${index}`,
    { enabled: false, process_name: `Sleeper ${index}`, command: ['sleep', '600'], config_dir: '/' },
  ]);
  const app = await startHost({
    pluginDirs: [pluginsDir, path.join(dir, 'plugins')],
    plugins: ['config', 'process', 'hasty'],
    config: Object.fromEntries(blocks),
  });
  t.teardown(() => app.stop());
  const turns = await until(() => {
    const lines = fs.existsSync(seen) ? fs.readFileSync(seen, 'utf8').split('\n').filter(Boolean) : [];
    return lines.length >= AT_ONCE ? lines : undefined;
  });
  // A piece of work may begin in a turn whose time is nearly used up.
  t.ok(new Set(turns).size >= AT_ONCE / 3, `turns ${turns.join(' ')}`);
});
