// R39: a host that gets a tenth of a processor starts with everything: its deadlines of loading do not measure the machine.
import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import { testDir } from '../support/directory.ts';
import { spawnStackwarden, writeConfig } from '../support/stackwarden.ts';
import { until } from '../support/until.ts';

const RUN_MS = 10;
const STAND_MS = 90;

t.test('every plugin is ready', async t => {
  const configDir = testDir(t, {});
  const port = await writeConfig(configDir);
  const service = spawnStackwarden(configDir);
  t.teardown(async () => {
    service.child.kill('SIGCONT');
    service.child.kill('SIGTERM');
    await service.exited;
  });
  let isThrottled = true;
  const throttle = (async () => {
    while (isThrottled && service.child.exitCode === null) {
      service.child.kill('SIGSTOP');
      await delay(STAND_MS);
      service.child.kill('SIGCONT');
      await delay(RUN_MS);
    }
    service.child.kill('SIGCONT');
  })();
  await until(() => service.child.exitCode !== null || service.stdout().includes('answers on'), {
    timeoutMs: 500_000,
    what: 'the host to listen',
  });
  isThrottled = false;
  await throttle;
  t.equal(service.child.exitCode, null, service.stderr());
  const answer = await fetch(`http://127.0.0.1:${port}/host/plugins`);
  const { plugins } = (await answer.json()) as { plugins: { name: string; state: string; reason: string | null }[] };
  t.ok(plugins.length > 30);
  t.same(
    plugins.filter(({ state }) => state !== 'ready').map(({ name, reason }) => [name, reason]),
    [],
  );
});
