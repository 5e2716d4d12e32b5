// What an earlier host has left running is of unknown status until this one has looked at it, never stopped.
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { testDir } from '../../support/directory.ts';
import { pluginsDir, startHost } from '../../support/host.ts';
import { lives, pidOf, status } from '../../support/kids.ts';
import { until } from '../../support/until.ts';

const sleeper = (processName: string, enabled: boolean) => ({
  enabled,
  process_name: processName,
  command: ['sleep', '600'],
  suppress_logging: true,
});

t.test('between the load of process control and the look at what survived', async t => {
  const configDir = testDir(t, {});
  const early = testDir(t, {
    early: {
      'index.js': `export default {
        name: 'early', host: '^1', needs: ['process'],
        setup(host) {
          const seen = Object.fromEntries(
            host.use('process.supervisor').list().map(({ processName, status }) => [processName, status]));
          host.route({ method: 'GET', path: '/early', summary: 'Statuses before the boot', handle: () => seen });
        },
      }`,
    },
  });
  const first = await startHost({
    configDir,
    plugins: ['config', 'process'],
    config: {
      dumb: { shutdown: { keep_services: true } },
      on: sleeper('On', true),
      off: sleeper('Off', false),
    },
  });
  t.teardown(() => first.stop());
  await until(async () => (await status(first, 'On')).status === 'running');
  const pid = await pidOf(first, 'On');
  t.teardown(() => lives(pid) && process.kill(pid, 'SIGKILL'));
  await first.stop();
  const file = path.join(configDir, 'stackwarden.json');
  await writeFile(file, (await readFile(file, 'utf8')).replace('"keep_services": true', '"keep_services": false'));

  const second = await startHost({
    configDir,
    pluginDirs: [pluginsDir, early],
    plugins: ['config', 'process', 'early'],
  });
  t.teardown(() => second.stop());
  t.match((await second.get('/early')).body, { On: 'unknown', Off: 'stopped' });
  await until(async () => (await status(second, 'On')).status === 'running');
  t.equal(await pidOf(second, 'On'), pid);
});
