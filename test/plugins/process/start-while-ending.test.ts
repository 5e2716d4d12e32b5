// A start of a service that was just killed, while its exit is still handled, succeeds.
import { chmod, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import t, { type Test } from 'tap';
import { testDir } from '../../support/directory.ts';
import { startHost } from '../../support/host.ts';
import { kid, lives, notedPid, pidOf, start, status } from '../../support/kids.ts';
import { until } from '../../support/until.ts';

/** A service whose leader was killed, while its remaining processes do not end before the limit of a stop. */
async function killed(t: Test) {
  const dir = testDir(t, {});
  await chmod(dir, 0o777);
  const file = path.join(dir, 'child');
  const app = await startHost({
    plugins: ['process', 'config'],
    config: { kid: kid('Kid', ['stubborn-child', file], { stop_grace_seconds: 3 }) },
  });
  t.teardown(() => app.stop());
  t.equal((await start(app, 'Kid')).status, 200);
  const child = await notedPid(file);
  const leader = await pidOf(app, 'Kid');
  process.kill(leader, 'SIGKILL');
  await until(() => !lives(leader), { what: 'the end of the leader' });
  return { app, leader, child };
}

t.test('two starts at once, while remains are ended, both succeed', async t => {
  const { app, leader, child } = await killed(t);
  const answers = await Promise.all([start(app, 'Kid'), start(app, 'Kid')]);
  for (const answer of answers) t.match(answer, { status: 200, body: { status: 'Service started successfully' } });
  t.notOk(lives(child));
  t.not(await pidOf(app, 'Kid'), leader);
  t.match(await status(app, 'Kid'), { status: 'running' });
});

t.test('the configuration file can enable the service meanwhile', async t => {
  const { app, leader } = await killed(t);
  const configuration = path.join(app.configDir, 'stackwarden.json');
  const root = JSON.parse(await readFile(configuration, 'utf8'));
  root.kid.enabled = true;
  await writeFile(configuration, JSON.stringify(root));
  await until(async () => (await status(app, 'Kid')).status === 'running' && (await pidOf(app, 'Kid')) !== leader);
});

t.test('a service that ends at once has failed, though its remains take longer to end', async t => {
  const script = 'trap "" TERM; (while :; do sleep 0.1; done) & exit 3';
  const block = { enabled: false, process_name: 'Kid', command: ['bash', '-c', script], config_dir: '/' };
  const app = await startHost({
    plugins: ['process', 'config'],
    config: { kid: { ...block, stop_grace_seconds: 15 } },
  });
  t.teardown(() => app.stop());

  t.match(await start(app, 'Kid'), { status: 500, body: { detail: /Kid failed to stay running \(exit code 3\)/ } });
  t.match(await status(app, 'Kid'), { status: 'stopped' });
});
