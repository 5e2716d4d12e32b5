// The part of a block that the record of a process keeps, for a host that finds the process without its block: it
// follows the configuration, has no secrets, and can always be parsed.
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import type { Logger } from '../../../core/contract/plugin.ts';
import { StateFile } from '../../../plugins/process/supervise/state-file.ts';
import { startHost } from '../../support/host.ts';
import { changeMainFile } from '../../support/host-config.ts';
import { kid, pidOf, start } from '../../support/kids.ts';
import { until } from '../../support/until.ts';

t.test('the record follows the block', async t => {
  const block = kid('Kid', ['calm'], { env: { PASSWORD: 'told to nobody' }, stop_signal: 'SIGINT' });
  const app = await startHost({ config: { kid: block }, plugins: ['config', 'process'] });
  t.teardown(() => app.stop());
  t.equal((await start(app, 'Kid')).status, 200);
  await pidOf(app, 'Kid');
  const text = () => readFile(path.join(app.configDir, 'supervisor/state.json'), 'utf8');
  const kept = async () => JSON.parse(await text()).processes.Kid;
  t.match(await kept(), {
    config_key: 'kid',
    path: ['kid'],
    block: { log_file: /kid\.log$/, suppress_logging: true, stop_signal: 'SIGINT', stop_grace_seconds: 1 },
  });
  t.notMatch(await text(), 'told to nobody');

  const change = (more: object) =>
    changeMainFile(app.configDir, ({ kid: _before, ...rest }) => ({ ...rest, kid: { ...block, ...more } }));
  await change({ stop_grace_seconds: 7, log_level: 'ERROR' });
  await until(async () => (await kept()).block.stop_grace_seconds === 7, { what: 'the record to follow' });
  t.match(await kept(), { block: { log_level: 'ERROR', stop_signal: 'SIGINT' } });
  await change({ stop_grace_seconds: -1, stop_signal: 'SIGNOT', log_level: 'DEBUG' });
  await until(async () => (await kept()).block.log_level === 'DEBUG', { what: 'the record to follow' });
  const told = (message: string): void => void t.fail(message);
  const log: Logger = { debug: told, info: told, warn: told, error: told };
  t.ok(new StateFile(path.join(app.configDir, 'supervisor'), log).load()?.has('Kid'), 'it can be read');
});
