// The lists of NeutArr, and its restart when a manager has a new key.
import { existsSync } from 'node:fs';
import { readFile, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { arr, keyOf, listener, startStack } from '../../support/arr-stack.ts';
import { testDir } from '../../support/directory.ts';
import { pluginsDir } from '../../support/host.ts';
import { until } from '../../support/until.ts';

const skip = !['integrations', 'service-arr', 'service-neutarr'].every(name => existsSync(path.join(pluginsDir, name)));

t.test('NeutArr gets the managers that want it', { skip }, async t => {
  const dir = testDir(t, {
    config: { 'radarr.json': '{"instances":[{"name":"mine","api_url":"http://nas:1","enabled":false}],"sleep":5}' },
  });
  const host = await startStack(t, dir, true, {
    radarr: { instances: { Default: await arr(dir, 'radarr', 'Radarr', { use_neutarr: true }) } },
    sonarr: { instances: { Default: await arr(dir, 'sonarr', 'Sonarr') } },
    neutarr: {
      instances: {
        Default: {
          ...(await listener(dir, 'NeutArr')),
          env: { NEUTARR_CONFIG_DIR: path.join(dir, 'config') },
        },
      },
    },
  });
  const settings = await until(
    async () => {
      const content = JSON.parse(await readFile(path.join(dir, 'config/radarr.json'), 'utf8'));
      return content.instances.length > 1 && content;
    },
    { what: 'the manager that makes its key at its first start' },
  );
  const address = `http://127.0.0.1:${(await host.get('/process?process_name=Radarr')).body.config.port}`;
  const api_key = await keyOf(dir, 'Radarr');
  t.same(settings, {
    instances: [
      { name: 'mine', api_url: 'http://nas:1', enabled: false },
      { name: 'Default', api_url: address, api_key, enabled: true, address },
    ],
    sleep: 5,
  });
  t.notOk(existsSync(path.join(dir, 'config/sonarr.json')), 'one that does not want it');

  const isRunning = async () =>
    (await host.get('/process/service-status?process_name=NeutArr')).body.status === 'running';
  const learned = async () =>
    (await host.get('/logs?process_name=DUMB')).body.chunk.split('NeutArr: it is started again to learn of Radarr');
  await until(isRunning, { what: 'NeutArr' });
  t.equal((await learned()).length, 1, 'it starts after its managers');
  await writeFile(path.join(dir, 'Radarr/config.xml'), '<Config><ApiKey>another</ApiKey></Config>');
  await host.post('/process/restart-service', { process_name: 'Radarr' });
  await until(async () => (await learned()).length === 2, { what: 'another key to be learned' });
  const given = async () => JSON.parse(await readFile(path.join(dir, 'config/radarr.json'), 'utf8')).instances;
  await until(async () => (await given())[1].api_key === 'another', { what: 'the other key in its file' });
  t.equal((await given()).length, 2);
  await until(isRunning, { what: 'NeutArr again' });
  const { mode } = await stat(path.join(host.configDir, 'handed-over.json'));
  t.equal(mode & 0o777, 0o600);
  t.notMatch(await readFile(path.join(host.configDir, 'handed-over.json'), 'utf8'), api_key, 'no secret in it');
});
