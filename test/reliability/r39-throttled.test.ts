// R39: a host that gets a tenth of a processor starts with everything: its deadlines of loading do not measure the
// machine.
import type { ChildProcess } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import { testDir } from '../support/directory.ts';
import { startHostProcess } from '../support/host-process.ts';
import { pluginNames } from '../support/needs.ts';
import { writeConfig } from '../support/stackwarden.ts';

const RUN_MS = 10;
const STAND_MS = 90;
/**
 * Less than the product's: far more than any plugin needs of a processor, far less than a tenth of one gives it by the
 * clock.
 */
const deadlines = { importMs: 1_000, setupMs: 2_000 };

t.test('every plugin is ready', async t => {
  const configDir = testDir(t, {});
  const port = await writeConfig(configDir);
  let isThrottled = true;
  const throttle = async (child: ChildProcess): Promise<void> => {
    while (isThrottled && child.exitCode === null) {
      child.kill('SIGSTOP');
      await delay(STAND_MS);
      child.kill('SIGCONT');
      await delay(RUN_MS);
    }
  };
  const host = await startHostProcess(port, { configDir, deadlines }, { onSpawn: child => void throttle(child) });
  isThrottled = false;
  t.teardown(async () => {
    host.child.kill('SIGTERM');
    await host.exited;
  });
  const { plugins } = (await host.json('/host/plugins')) as {
    plugins: { name: string; state: string; reason: string | null }[];
  };
  t.same(plugins.map(({ name }) => name).sort(), await pluginNames());
  t.same(
    plugins.filter(({ state }) => state !== 'ready').map(({ name, reason }) => [name, reason]),
    [],
  );
});
