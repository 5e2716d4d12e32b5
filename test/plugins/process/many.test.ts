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

/** Counts the looks at the table of processes from now on. */
function countLooks(): () => number {
  let count = 0;
  const { readdirSync } = fs;
  fs.readdirSync = ((...args: Parameters<typeof readdirSync>) => {
    if (args[0] === '/proc') count += 1;
    return readdirSync(...args);
  }) as typeof readdirSync;
  syncBuiltinESMExports();
  return () => {
    fs.readdirSync = readdirSync;
    syncBuiltinESMExports();
    return count;
  };
}

t.test('a boot forks for each service once, and a stop looks around for all at once', { skip }, async t => {
  const blocks = Array.from({ length: COUNT }, (_, index) => [
    `sleeper_${index}`,
    { enabled: true, process_name: `Sleeper ${index}`, command: ['sleep', '600'], config_dir: '/' },
  ]);
  const forks = countForks();
  const app = await startHost({ plugins: ['process', 'config'], config: Object.fromEntries(blocks) });
  const running = async (): Promise<number> => {
    const { body } = await app.get('/process/processes');
    return body.processes.filter(({ status }: { status: string }) => status === 'running').length;
  };
  await until(async () => (await running()) >= COUNT, { timeoutMs: 60_000 });
  const forked = forks();
  t.ok(forked >= COUNT, `${forked} forks`);
  t.ok(forked < COUNT * 1.5, `${forked} forks for ${COUNT} services`);

  const looks = countLooks();
  await app.stop();
  const looked = looks();
  t.ok(looked < COUNT, `${looked} looks at the processes for ${COUNT} services`);
});
