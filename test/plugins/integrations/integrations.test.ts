// Applications that start together are connected to each other, however late one of them answers.
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { parse } from 'yaml';
import { arr, fieldsOf, keyOf, listener, startStack, stateOf, webApp } from '../../support/arr-stack.ts';
import { testDir } from '../../support/directory.ts';
import { pluginsDir } from '../../support/host.ts';
import { until } from '../../support/until.ts';

const skip = !['integrations', 'service-arr', 'service-altmount'].every(name =>
  existsSync(path.join(pluginsDir, name)),
);

t.test('a failed connection is reported and repeated, and delays no other', { skip }, async t => {
  const dir = testDir(t, {});
  const altmount = {
    ...(await listener(dir, 'AltMount')),
    env: { ALTMOUNT_API_KEY: 'a-key-of-altmount' },
    config_file: path.join(dir, 'config.yaml'),
    log_file: path.join(dir, 'altmount.log'),
    metadata_dir: path.join(dir, 'metadata'),
    mount_path: path.join(dir, 'mount'),
    command: ['sleep', '600'],
  };
  const both = { core_service: 'altmount, infinidysk' };
  const host = await startStack(t, dir, true, {
    altmount,
    sonarr: { instances: { Default: await arr(dir, 'sonarr', 'Sonarr', both) } },
  });
  // Three attempts, each after both services had time to answer.
  const said = await until(
    async () => {
      const { chunk } = (await host.get('/logs?process_name=DUMB')).body;
      return /arr-download-clients of Sonarr could not be done.*/.exec(chunk)?.[0];
    },
    { timeoutMs: 120_000, what: 'the last attempt' },
  );
  t.match(said, 'it is tried again when one of the two starts');
  const { chunk } = (await host.get('/logs?process_name=DUMB')).body;
  t.match(chunk, `Sonarr answers 400 to downloadclient: Unable to connect to 127.0.0.1:${altmount.port}`);
  t.notMatch(chunk, await keyOf(dir, 'Sonarr'), 'no key is told');
  t.equal((await host.get('/process/service-status?process_name=Sonarr')).body.status, 'running');

  const command = [process.execPath, webApp, String(altmount.port)];
  await host.post('/config', { process_name: 'AltMount', updates: { command } });
  await host.post('/process/restart-service', { process_name: 'AltMount' });
  const client = await until(async () => (await stateOf(dir, 'Sonarr')).downloadclient[0], { what: 'the client' });
  t.match(fieldsOf(client), { urlBase: '/sabnzbd', apiKey: 'a-key-of-altmount', tvCategory: 'tv' });
  const library = path.join(dir, 'library/combined_symlinks/sonarr-default');
  t.match(
    (await stateOf(dir, 'Sonarr')).rootfolder,
    [{ path: library }],
    'the folder was made before it was told of it',
  );

  t.same(parse(await readFile(altmount.config_file, 'utf8')).arrs, {
    sonarr_instances: [
      {
        name: 'sonarr:Default',
        url: `http://127.0.0.1:${(await host.get('/process?process_name=Sonarr')).body.config.port}`,
        api_key: await keyOf(dir, 'Sonarr'),
        enabled: true,
      },
    ],
  });
});
