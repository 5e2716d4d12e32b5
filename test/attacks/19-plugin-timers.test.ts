// Line 19: a timer that a plugin starts by itself stalls in the plugin's name, and is named when it outlives the
// plugin.
import { rm } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { testDir } from '../support/directory.ts';
import { startStackwarden, writeConfig } from '../support/stackwarden.ts';
import { until } from '../support/until.ts';

const SOURCE = `export default { name: 'careless', host: '^1', setup () {
  const kept = setInterval(() => undefined, 250)
  const ended = setInterval(() => undefined, 500)
  clearInterval(ended)
  setTimeout(() => { Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1500) }, 10)
  void kept
} }`;

t.test('its stall and what it leaves behind', async t => {
  const configDir = testDir(t, { plugins: { careless: { 'index.mjs': SOURCE } } });
  const port = await writeConfig(configDir);
  const args = ['start', '--plugins', 'config,host-plugins,careless'];
  const service = await startStackwarden(configDir, port, { args });
  t.teardown(async () => {
    service.child.kill('SIGTERM');
    await service.exited;
  });
  await until(() => /stood still for \d+ ms;.*careless: a timer of its own/.test(service.stdout()), {
    what: 'the stall to be told',
  });
  await rm(path.join(configDir, 'plugins', 'careless'), { recursive: true });
  await until(() => /careless: a timer of every 250 ms still runs .*index\.mjs:2/.test(service.stdout()), {
    what: 'the timer to be named',
  });
  t.notMatch(service.stdout(), /every 500 ms/, 'one that was cleared is not');
  t.equal((await fetch(`${service.base}/host/plugins`)).status, 200);
});
