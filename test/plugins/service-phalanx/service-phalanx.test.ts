// Phalanx DB: which of its scripts is started, and where its data lies.
import { existsSync } from 'node:fs';
import { chmod, mkdir, readFile, readlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { testDir } from '../../support/directory.ts';
import { pluginsDir, startHost } from '../../support/host.ts';
import { start } from '../../support/kids.ts';
import { freePort } from '../../support/stackwarden.ts';
import { until } from '../../support/until.ts';

const skip = !['service-phalanx', 'setup', 'services'].every(name => existsSync(path.join(pluginsDir, name)));

const script = (name: string) =>
  `require('fs').writeFileSync('seen', '${name} ' + process.env.DEBUG + ' ' + process.env.PORT); setInterval(() => {}, 1e6)`;

t.test('the newest script is started, and links lead to its data', { skip }, async t => {
  const dir = testDir(t, {
    'package.json': '{}',
    'phalanx_db_rest.js': script('first'),
    'phalanx_db_rest_v9.js': script('ninth'),
    'phalanx_db_rest_v10.js': script('tenth'),
    'phalanx_db_rest_vx.js': script('none'),
    logs: { kept: 'by its owner' },
  });
  await chmod(dir, 0o777);
  const port = await freePort();
  const app = await startHost({
    plugins: ['config', 'process', 'services', 'setup', 'service-phalanx'],
    config: {
      phalanx_db: { process_name: 'Phalanx', config_dir: dir, log_file: `${dir}/own.log`, port, log_level: 'debug' },
    },
  });
  t.teardown(() => app.stop());
  const answer = await start(app, 'Phalanx');
  t.equal(answer.status, 200, answer.text);
  t.equal(await until(() => readFile(path.join(dir, 'seen'), 'utf8')), `tenth true ${port}`);
  t.equal(await readlink(path.join(dir, 'autobase_storage_v4')), 'data/autobase_storage_v4');
  t.ok(existsSync(path.join(dir, 'db_data')), 'a link leads to a directory');
  t.equal(await readFile(path.join(dir, 'logs/kept'), 'utf8'), 'by its owner');

  await mkdir(path.join(dir, 'other'));
  await writeFile(path.join(dir, 'other.js'), script('mine'));
  await app.post('/config', { process_name: 'Phalanx', updates: { command: ['node', 'other.js'] } });
  await app.post('/process/restart-service', { process_name: 'Phalanx' });
  await until(async () => (await readFile(path.join(dir, 'seen'), 'utf8')).startsWith('mine'), {
    what: 'the own command',
  });
});
