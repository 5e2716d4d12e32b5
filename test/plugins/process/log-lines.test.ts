// The host's own log about starts, stops and plugins: one line each, with who requested it.
import { mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { testDir } from '../../support/directory.ts';
import { startHost } from '../../support/host.ts';
import { restart, start, stop } from '../../support/kids.ts';
import { ownLog } from '../../support/own-log.ts';
import { until } from '../../support/until.ts';

const SLEEPER = { enabled: false, command: ['sleep', '600'] };

t.test('starts, restarts, stops and failed starts are logged', async t => {
  const app = await startHost({
    config: {
      sleeper: { ...SLEEPER, process_name: 'Sleeper' },
      broken: { ...SLEEPER, process_name: 'Broken', command: ['/nowhere/program'] },
    },
  });
  t.teardown(() => app.stop());
  t.equal((await start(app, 'Sleeper')).status, 200);
  t.equal((await restart(app, 'Sleeper')).status, 200);
  t.equal((await stop(app, 'Sleeper')).status, 200);
  t.equal((await start(app, 'Broken')).status, 400);
  const expected = [
    /INFO - process: Sleeper: start asked for by user$/,
    /INFO - process: Sleeper runs as pid \d+, started on request$/,
    /INFO - process: Sleeper: restart asked for by user$/,
    /INFO - process: Sleeper runs as pid \d+, restarted on request$/,
    /INFO - process: Sleeper: stop asked for by user$/,
    /ERROR - process: Broken cannot start: command \/nowhere\/program was not found; install it/,
  ];
  const lines = await until(async () => {
    const found = await ownLog(app);
    return found.some(line => expected.at(-1)?.test(line)) ? found : null;
  });
  for (const line of expected) t.equal(lines.filter(text => line.test(text)).length, 1, String(line));
  t.equal(lines.filter(text => /Sleeper was stopped$/.test(text)).length, 2, 'once for the restart, once for the stop');
  t.notMatch(lines.join('\n'), /\x1b\[/, 'no colours');
});

t.test('plugins that are loaded and unloaded are logged', async t => {
  const configDir = testDir(t, { plugins: {} });
  const app = await startHost({ configDir, config: {}, plugins: 'all' });
  t.teardown(() => app.stop());
  const told = (line: RegExp) =>
    until(async () => (await ownLog(app)).some(text => line.test(text)), { what: `${line}` });
  t.ok(await told(/INFO - host: \d+ plugins are loaded/));
  const folder = path.join(configDir, 'plugins', 'guest');
  await mkdir(folder);
  await writeFile(path.join(folder, 'index.js'), `export default { name: 'guest', host: '^1', setup() {} };`);
  t.ok(await told(/INFO - host: the plugin guest is loaded$/));
  await rm(folder, { recursive: true });
  t.ok(await told(/INFO - host: the plugin guest is gone$/));
});
