// A service that writes faster than its output is read: its log can still be changed, and the host can stop in time.
import { existsSync } from 'node:fs';
import { chmod } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { testDir } from '../../support/directory.ts';
import { startHost } from '../../support/host.ts';
import { pidOf, status } from '../../support/kids.ts';
import { ownLog } from '../../support/own-log.ts';
import { until } from '../../support/until.ts';

/** A limited amount, to spare the disk. */
const writer = `
const { writeSync } = require('node:fs')
let number = 0
while (number < 20_000_000) {
  let text = ''
  for (let line = 0; line < 5_000; line += 1) text += 'line ' + number++ + '\\n'
  writeSync(1, text)
}
setInterval(() => {}, 60_000)
`;

t.test('a flood of output delays neither a change of the log nor a hand-over', { timeout: 240_000 }, async t => {
  const dir = testDir(t, { 'writer.cjs': writer });
  await chmod(dir, 0o755);
  const app = await startHost({
    config: {
      dumb: { startup: { stabilization_seconds: 0 }, plugins: { required: [] } },
      writer: {
        enabled: true,
        process_name: 'Writer',
        command: [process.execPath, path.join(dir, 'writer.cjs')],
        suppress_logging: true,
        stop_grace_seconds: 1,
      },
    },
    plugins: ['process', 'config', 'host-plugins'],
  });
  t.teardown(() => app.stop());
  await until(async () => (await status(app, 'Writer')).status === 'running');
  const pid = await pidOf(app, 'Writer');
  t.teardown(async () => {
    // An orderly stop would read all of the output.
    await app.host.stop('fault');
    process.kill(pid, 'SIGKILL');
  });
  t.equal((await app.post('/config', { process_name: 'Writer', updates: { log_file: 'other.log' } })).status, 200);
  await until(() => existsSync(path.join(app.configDir, 'log/other.log')), { what: 'the other log' });

  const choose = (disabled: readonly string[]) => app.post('/config', { updates: { dumb: { plugins: { disabled } } } });
  const state = () => app.host.plugins().find(({ name }) => name === 'process')?.state;
  await choose(['process']);
  await until(() => state() === 'disabled', { what: 'process control to be gone' });
  await choose([]);
  await until(() => state() === 'ready', { what: 'process control to be back' });
  await until(async () => (await status(app, 'Writer')).status === 'running', { what: 'the adoption' });
  t.same(
    (await ownLog(app)).filter(line => / takes longer than /.test(line)),
    [],
  );
});
