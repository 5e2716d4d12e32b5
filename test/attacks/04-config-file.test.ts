// The configuration file of a service lies in the directories that the configuration declares for it.
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { testDir } from '../support/directory.ts';
import { asOwner, startHost } from '../support/host.ts';

t.test('a config_file elsewhere is refused with the reason and the setting', async t => {
  const root = testDir(t, { own: { 'a.json': '{"a": 1}' }, more: { 'b.json': '{"b": 1}' }, users: { 'u.json': '{}' } });
  await chmod(root, 0o755);
  const users = path.join(root, 'own', 'users-elsewhere.json');
  process.env.DUMB_AUTH_CONFIG_PATH = users;
  t.teardown(() => {
    delete process.env.DUMB_AUTH_CONFIG_PATH;
  });
  const open = await startHost({
    plugins: ['auth', 'config', 'process', 'config-files', 'format-json', 'format-yaml'],
    config: {
      service: {
        process_name: 'Service',
        config_dir: path.join(root, 'own'),
        config_file: path.join(root, 'own', 'a.json'),
      },
    },
  });
  t.teardown(() => open.stop());
  const app = await asOwner(open);
  await mkdir(path.join(app.configDir, 'templates', 'services'), { recursive: true });
  await writeFile(path.join(app.configDir, 'templates', 'services', 'mine.yaml'), 'a: 1\n');
  await writeFile(path.join(app.configDir, 'handed-over.json'), '{}');
  const point = (file: string, more: object = {}) =>
    app.post('/config', { process_name: 'Service', updates: { config_file: file, ...more } });
  const call = () => app.post('/config/service-config', { service_name: 'Service' });
  t.equal((await call()).status, 200);

  const elsewhere = path.join(root, 'more', 'b.json');
  await point(elsewhere);
  const { status, body } = await call();
  t.equal(status, 403);
  for (const said of [elsewhere, 'Service', 'config_dir', 'dumb.api_service.file_roots']) t.match(body.detail, said);
  const setting = { updates: { dumb: { api_service: { file_roots: [path.join(root, 'more')] } } }, persist: true };
  t.equal((await app.post('/config', setting)).status, 200);
  t.equal((await call()).status, 200, 'the setting that the refusal names helps');

  const product = path.resolve(import.meta.dirname, '../..');
  for (const [file, reason] of [
    [path.join(app.configDir, 'stackwarden.json'), /Stackwarden itself/],
    [path.join(app.configDir, 'templates', 'services', 'mine.yaml'), /Stackwarden itself/],
    [path.join(app.configDir, 'handed-over.json'), /Stackwarden itself/],
    [users, /Stackwarden itself/],
    [`${users}.bak`, /Stackwarden itself/],
    ['/etc/passwd', /the system/],
  ] as const) {
    await point(file);
    t.match(await call(), { status: 403, body: { detail: reason } }, file);
  }
  process.env.DUMB_AUTH_CONFIG_PATH = path.relative(process.cwd(), users);
  await point(users);
  t.match(await call(), { status: 403 }, 'also where the variable names them from the working directory on');
  await point(path.join(product, 'templates', 'services', 'sonarr.json'), { config_dir: product });
  t.match(
    await call(),
    { status: 403, body: { detail: /Stackwarden itself/ } },
    'what the host runs is no file of a service',
  );
});
