// The initial password of a service: read from its own file only; no other file is shown.
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { testDir } from '../../support/directory.ts';
import { startHost } from '../../support/host.ts';

const skip = !existsSync(new URL('../../../plugins/initial-password/index.ts', import.meta.url));
const ROUTE = '/process/mediastorm-initial-admin-password';

t.test('the credential of the first login is shown from its own file only', { skip }, async t => {
  const root = testDir(t, { outside: { 'initial_admin_password.txt': 'elsewhere' } });
  const dir = path.join(root, 'mediastorm');
  const cache = path.join(dir, 'cache');
  await mkdir(cache, { recursive: true });
  const app = await startHost({
    config: { mediastorm: { config_dir: dir } },
    plugins: ['config', 'services', 'initial-password', 'process'],
  });
  t.teardown(() => app.stop());
  const file = path.join(cache, 'initial_admin_password.txt');
  const absent = { available: false, username: 'admin', password: null, credential_kind: null };
  t.same((await app.get(ROUTE)).body, absent);
  t.equal((await app.get('/process/capabilities')).body.mediastorm_initial_admin_password, true);

  await writeFile(path.join(cache, 'initial_admin_password'), 'admin\n');
  t.match((await app.get(ROUTE)).body, { available: true, password: 'admin', credential_kind: 'default' });
  await writeFile(file, 'kß9 secret\r\n');
  const found = await app.get(ROUTE);
  t.match(found.body, { available: true, password: 'kß9 secret', credential_kind: 'installation_specific' });
  t.match(found.headers, { 'cache-control': 'no-store, private', pragma: 'no-cache' });

  const refused = { status: 500, body: { detail: 'The initial admin credential file is invalid or unreadable.' } };
  for (const [what, content] of [
    ['two lines', 'one\ntwo'],
    ['nothing', ''],
    ['more than it can be', 'x'.repeat(4_097)],
    ['no text', Buffer.from([0xff, 0xfe])],
    ['a NUL', 'a\0b'],
  ] as const) {
    await writeFile(file, content);
    t.match(await app.get(ROUTE), refused, what);
  }
  await rm(file);
  await symlink(path.join(root, 'outside', 'initial_admin_password.txt'), file);
  t.match(await app.get(ROUTE), refused, 'a link');
  await rm(file);
  execFileSync('mkfifo', [file]);
  t.match(await app.get(ROUTE), refused, 'a pipe does not hold the answer up');
  await rm(cache, { recursive: true });
  await symlink(path.join(root, 'outside'), cache);
  t.match(await app.get(ROUTE), refused, 'a folder that leads elsewhere');
  await app.post('/config', { process_name: 'mediastorm', updates: { config_dir: '/nowhere' } });
  t.same((await app.get(ROUTE)).body, absent);
});
