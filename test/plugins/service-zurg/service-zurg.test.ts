// zurg: the sources of its first configuration and its program, and a login that is added and removed.
import { existsSync } from 'node:fs';
import { chmod, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { parse } from 'yaml';
import { testDir } from '../../support/directory.ts';
import { pluginsDir, startHost } from '../../support/host.ts';
import { restart, start } from '../../support/kids.ts';
import { noting, seenBy } from '../../support/seen.ts';
import { freePort } from '../../support/stackwarden.ts';
import { until } from '../../support/until.ts';

const skip = !['service-zurg', 'setup', 'services', 'format-yaml'].every(name =>
  existsSync(path.join(pluginsDir, name)),
);
const shipped = new URL('../../../templates/services/zurg.json', import.meta.url);

t.test('files that the owner has put beside the configuration win', { skip }, async t => {
  const dir = testDir(t, {
    host: { templates: { services: {} } },
    config: {},
    zurg: { RD: {}, 'config.yml': '# the base\nzurg: v1\non_library_update: base\n' },
  });
  for (const place of ['.', 'zurg/RD']) await chmod(path.join(dir, place), 0o777);
  const text = (await readFile(shipped, 'utf8')).replaceAll(/(?<=")\/(?=(?:config|zurg)\/)/g, `${dir}/`);
  await writeFile(path.join(dir, 'host/templates/services/zurg.json'), text);
  const installed = path.join(dir, 'zurg/RD/zurg');
  const own = path.join(dir, 'config/zurg');
  const file = path.join(dir, 'zurg/RD/config.yml');
  await noting(installed);
  const app = await startHost({
    configDir: path.join(dir, 'host'),
    plugins: ['config', 'process', 'services', 'setup', 'config-files', 'format-yaml', 'service-zurg'],
    config: { zurg: { instances: { RealDebrid: { process_name: 'Zurg', api_key: 'k', port: await freePort() } } } },
  });
  t.teardown(() => app.stop());
  const written = async () => parse(await readFile(file, 'utf8'));
  t.equal((await start(app, 'Zurg')).status, 200);
  await seenBy(installed);
  t.match(await readFile(file, 'utf8'), /^# the base\nzurg: v1\n/, 'the base is copied at the first set-up');
  t.match(await written(), { on_library_update: 'base', token: 'k' });
  t.notOk('username' in (await written()));

  await noting(own);
  await writeFile(path.join(dir, 'config/config.yml'), 'zurg: v1\non_library_update: override\n');
  const set = async (updates: object): Promise<void> => {
    const { status, text } = await app.post('/config', { process_name: 'Zurg', updates });
    t.equal(status, 200, text);
    t.equal((await restart(app, 'Zurg')).status, 200);
  };
  await set({ user: 'me', password: 'secret' });
  await seenBy(own);
  t.match(await written(), { on_library_update: 'base', username: 'me', password: 'secret' });
  await set({ user: '', password: '' });
  t.match(await written(), { username: '', password: '' }, 'nobody is asked any more');

  await writeFile(file, 'zurg: v1\nusername: ""\n');
  await set({ log_level: 'DEBUG' });
  t.notOk('on_library_update' in (await written()), 'a file that is there is not copied over');
  const second = path.join(dir, 'zurg/RD/second.yml');
  await set({ config_file: second });
  t.match(parse(await readFile(second, 'utf8')), { on_library_update: 'override' }, 'that of the owner comes first');
});

const cannotTell = skip || !existsSync(path.join(pluginsDir, 'versions'));

t.test('the version is that of the started program', { skip: cannotTell }, async t => {
  const dir = testDir(t, { host: { templates: { services: {} } }, config: {}, zurg: { RD: {} } });
  await chmod(dir, 0o755);
  await chmod(path.join(dir, 'zurg/RD'), 0o777);
  const text = (await readFile(shipped, 'utf8')).replaceAll(/(?<=")\/(?=(?:config|zurg)\/)/g, `${dir}/`);
  await writeFile(path.join(dir, 'host/templates/services/zurg.json'), text);
  const program = async (place: string, version: string): Promise<void> => {
    const file = path.join(dir, place);
    await writeFile(file, `#!/bin/sh\n[ "$1" = version ] || exec sleep 600\necho "Version: ${version}"\n`);
    await chmod(file, 0o755);
  };
  await program('zurg/RD/zurg', 'v0.9.3');
  const app = await startHost({
    configDir: path.join(dir, 'host'),
    pace: 0.02,
    plugins: ['config', 'process', 'services', 'setup', 'config-files', 'format-yaml', 'service-zurg', 'versions'],
    config: { zurg: { instances: { RealDebrid: { process_name: 'Zurg', api_key: 'k', port: await freePort() } } } },
  });
  t.teardown(() => app.stop());
  const shown = async () =>
    (await app.get('/process/processes')).body.processes.find(
      (entry: { process_name: string }) => entry.process_name === 'Zurg',
    ).version;
  t.equal((await start(app, 'Zurg')).status, 200);
  await until(async () => (await shown()) === 'v0.9.3', { what: 'the installed one' });
  await program('config/zurg', 'v0.10.0');
  t.equal((await restart(app, 'Zurg')).status, 200);
  await until(async () => (await shown()) === 'v0.10.0', { what: 'that of its owner' });
});
