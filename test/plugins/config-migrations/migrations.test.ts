// Configurations of earlier releases: moved once, with a copy of the old file, and nothing else in it touched.
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { testDir } from '../../support/directory.ts';
import { startHost } from '../../support/host.ts';

const skip = !existsSync(new URL('../../../plugins/config-migrations/index.ts', import.meta.url));
const plugins = ['config', 'process', 'services', 'config-migrations'];

const OLD = `{
    "nzbdav": { "process_name": "NzbDAV", "backend_port": 8081, "repo_owner": "nzbdav-dev", "repo_name": "nzbdav" },
    "decypharr": { "use_embedded_rclone": false },
    // by hand
    "bazarr": { "config_file": "/bazarr/config/config.yaml" },
    "mediastorm": { "process_name": "MediaStorm" },
    "huntarr": { "instances": { "Main": { "process_name": "Huntarr Main" } } },
    "dumb": { "gateway": { "enabled": false } }
}
`;

t.test('moved once', { skip }, async t => {
  const configDir = testDir(t, { 'stackwarden.json': OLD });
  const file = path.join(configDir, 'stackwarden.json');
  const app = await startHost({ configDir, plugins });
  const { body } = await app.get('/config');
  t.match(body.infinidysk, {
    process_name: 'NzbDAV',
    backend_port: 8_081,
    repo_owner: 'infinidysk',
    repo_name: 'infinidysk',
  });
  t.notOk('nzbdav' in body);
  t.match(body.decypharr, { mount_type: 'external_rclone' });
  t.equal(body.bazarr.config_file, '/bazarr/data/config/config.yaml');
  t.equal(body.mediastorm.process_name, 'mediastorm');
  t.same(Object.keys(body.neutarr.instances), ['Main']);
  t.same(body.dumb.config_migrations, [
    'nzbdav-to-infinidysk',
    'huntarr-to-neutarr',
    'bazarr-file',
    'decypharr-mount-type',
    'infinidysk-repository',
    'mediastorm-name',
  ]);
  const text = await readFile(file, 'utf8');
  t.match(text, '// by hand');
  t.equal(await readFile(`${file}.bak`, 'utf8'), OLD, 'the old file is kept');
  await app.stop();

  const again = await startHost({ configDir, plugins });
  t.teardown(() => again.stop());
  t.equal(await readFile(file, 'utf8'), text, 'a second start changes nothing');
});

t.test('under both names a person decides', { skip }, async t => {
  const configDir = testDir(t, {});
  const file = path.join(configDir, 'stackwarden.json');
  const both = '{"dumb":{"gateway":{"enabled":false}},"nzbdav":{"process_name":"A"},"infinidysk":{"process_name":"B"}}';
  await writeFile(file, both);
  const app = await startHost({ configDir, plugins });
  t.teardown(() => app.stop());
  t.equal(await readFile(file, 'utf8'), both);
  const refused = await app.post('/config', { updates: { nzbdav: { port: 1 }, infinidysk: { frontend_port: 2 } } });
  t.match(refused, { status: 409, body: { detail: /nzbdav is the former name of infinidysk/ } });
});
