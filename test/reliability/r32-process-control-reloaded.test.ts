// R32: process control is taken down and set up again while the host goes on: the same processes, and not a line lost.
import { chmod, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { testDir } from '../support/directory.ts';
import { recordEvents } from '../support/events.ts';
import { startHost } from '../support/host.ts';
import { pidOf, start, status } from '../support/kids.ts';
import { until } from '../support/until.ts';

/** Writes numbered lines until a file tells it to stop; the last line says how many there were. */
const writer = `
const { existsSync, writeSync } = require('node:fs')
const [, , stopFile] = process.argv
let number = 0
const timer = setInterval(() => {
  for (let line = 0; line < 20; line += 1) writeSync(1, 'line ' + number++ + '\\n')
  if (!existsSync(stopFile)) return
  clearInterval(timer)
  writeSync(1, 'all ' + number + '\\n')
  setInterval(() => {}, 60_000)
}, 10)
`;

t.test('the processes live on and are adopted by the next set-up in the same host', { timeout: 120_000 }, async t => {
  const dir = testDir(t, { 'writer.cjs': writer });
  await chmod(dir, 0o755);
  const configDir = testDir(t, { 'writer.cjs': writer });
  const stopFile = path.join(dir, 'stop');
  const logFile = path.join(configDir, 'log', 'writer.log');
  const missing = path.join(dir, 'missing');
  const service = { suppress_logging: true, stop_grace_seconds: 1 };
  const { pluginDirs, plugins, count } = await recordEvents(t, ['host-plugins']);
  const app = await startHost({
    configDir,
    config: {
      dumb: { startup: { stabilization_seconds: 0, readiness_timeout_seconds: 1 }, plugins: { required: [] } },
      writer: {
        ...service,
        enabled: true,
        process_name: 'Writer',
        command: [process.execPath, path.join(dir, 'writer.cjs'), stopFile],
        log_file: logFile,
      },
      by_hand: { ...service, enabled: false, process_name: 'By hand', command: ['sleep', '600'] },
      waiting: {
        ...service,
        enabled: false,
        process_name: 'Waiting',
        command: ['sleep', '600'],
        wait_for_dir: missing,
      },
    },
    pluginDirs,
    plugins,
  });
  t.teardown(() => app.stop());
  const terminal = () =>
    until(async () => (await app.get('/process/startup-status')).body?.terminal, { what: 'the end of the boot' });
  await terminal();
  await until(() => count('dumb.startup.ready', null) === 1);
  t.match(await status(app, 'Writer'), { status: 'running' });
  t.match(await start(app, 'By hand'), { status: 200 });
  const waiting = start(app, 'Waiting');
  await until(async () => (await status(app, 'Waiting')).status === 'starting');
  const pids = { writer: await pidOf(app, 'Writer'), byHand: await pidOf(app, 'By hand') };
  const logged = async () => (await readFile(logFile, 'utf8')).split('\n').length;
  const early = await until(logged);

  const choose = (disabled: readonly string[]) => app.post('/config', { updates: { dumb: { plugins: { disabled } } } });
  const state = () => app.host.plugins().find(({ name }) => name === 'process')?.state;
  await choose(['process']);
  await until(() => state() === 'disabled', { what: 'process control to be gone' });
  t.equal((await app.get('/process/processes')).status, 404);
  t.match(await waiting, { status: 503 }, 'a start that waited is told');
  for (const pid of Object.values(pids)) process.kill(pid, 0);
  await choose([]);
  await until(() => state() === 'ready', { what: 'process control to be back' });
  await terminal();
  for (const name of ['Writer', 'By hand']) t.match(await status(app, name), { status: 'running' }, name);
  t.same({ writer: await pidOf(app, 'Writer'), byHand: await pidOf(app, 'By hand') }, pids, 'the same processes');
  const told = count('dumb.startup.ready', null) + count('dumb.startup.degraded', null);
  t.equal(told, 1, 'that is no start of the host');

  await until(async () => (await logged()) > early, { what: 'its output to be read again' });
  await writeFile(stopFile, '');
  const text = await until(async () => {
    const content = await readFile(logFile, 'utf8');
    return / all \d+$/m.test(content) ? content : undefined;
  });
  const numbers = [...text.matchAll(/ line (\d+)$/gm)].map(match => Number(match[1]));
  t.equal(numbers.length, Number(/ all (\d+)$/m.exec(text)?.[1]), 'as many lines as were written');
  t.ok(
    numbers.every((number, index) => number === index),
    'each once, in order',
  );

  process.kill(pids.byHand, 'SIGKILL');
  await until(async () => (await status(app, 'By hand')).status === 'stopped', { what: 'its exit to be noticed' });
});
