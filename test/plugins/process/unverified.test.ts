// A service that an earlier host left running has the status unknown until the next host has examined it, never
// stopped.
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import t, { type Test } from 'tap';
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

/**
 * A host that left its service running, and the next host, in which a plugin makes a call before the service is
 * examined.
 */
async function followed(t: Test, ask: string) {
  const configDir = testDir(t, {});
  const early = testDir(t, {
    early: {
      'index.js': `export default {
        name: 'early', host: '^1', needs: ['process'],
        setup(host) {
          const supervisor = host.use('process.supervisor');
          const answer = supervisor.${ask}.catch(error => error.message);
          host.route({ method: 'GET', path: '/early', summary: 'What came of it', handle: async () => ({ answer: await answer }) });
        },
      }`,
    },
  });
  const first = await startHost({
    configDir,
    plugins: ['config', 'process'],
    config: { dumb: { shutdown: { keep_services: true } }, on: sleeper('On', true) },
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
  return { second, pid, answer: (await second.get('/early')).body.answer };
}

t.test('an early stop stops the service', async t => {
  const { second, pid, answer } = await followed(t, `stop('On')`);
  t.equal(answer, 'stopped');
  t.notOk(lives(pid));
  t.match(await status(second, 'On'), { status: 'stopped' });
});

t.test('an early start finds the service running', async t => {
  const { second, pid, answer } = await followed(t, `start('On', 'request')`);
  t.match(answer, { status: 'already-running' });
  t.equal(await pidOf(second, 'On'), pid);
});

t.test('an early restart ends the old process', async t => {
  const { second, pid } = await followed(t, `restart('On', 'request')`);
  t.notOk(lives(pid));
  t.match(await status(second, 'On'), { status: 'running' });
});

t.test('the status is unknown until survivors are examined', async t => {
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
