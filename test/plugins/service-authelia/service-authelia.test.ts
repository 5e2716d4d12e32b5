// Authelia: its file follows its block and keeps what others wrote, its secrets are made once, and Authelia itself
// checks the file.
import { existsSync } from 'node:fs';
import { chmod, mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { parse } from 'yaml';
import { testDir } from '../../support/directory.ts';
import { pluginsDir, startHost } from '../../support/host.ts';
import { restart, start } from '../../support/kids.ts';
import { until } from '../../support/until.ts';

const skip = !['service-authelia', 'service-postgres', 'setup', 'services', 'format-yaml'].every(name =>
  existsSync(path.join(pluginsDir, name)),
);

/** Refuses a file that says so or that has two notifiers, as the real program does, and notes its variables. */
const program = (dir: string) => `#!/bin/sh
if [ "$1" = config ]; then
  [ "$(grep -cE '^ +(smtp|filesystem):' "$4")" = 1 ] || { echo 'notifier: ensure only one is configured'; exit 1; }
  grep -q refused "$4" && { echo 'Configuration parsed and loaded with errors:'; echo '  - session: refused'; exit 1; }
  exit 0
fi
env > ${dir}/seen
exec sleep 600
`;

t.test('the file follows the block, and secrets are made once', { skip }, async t => {
  const dir = testDir(t, { 'configuration.yml': '# mine\ntheme: dark\nserver:\n  address: tcp://0.0.0.0:1/\n' });
  await chmod(dir, 0o777);
  await mkdir(path.join(dir, 'bin'));
  const binary = path.join(dir, 'bin/authelia');
  await writeFile(binary, program(dir));
  await chmod(binary, 0o755);
  const file = path.join(dir, 'configuration.yml');
  await chmod(file, 0o666);
  const app = await startHost({
    plugins: [
      'config',
      'process',
      'services',
      'setup',
      'service-authelia',
      'service-postgres',
      'config-files',
      'format-yaml',
    ],
    config: {
      postgres: { port: 5_999, user: 'keeper', password: 'pw' },
      authelia: {
        process_name: 'Portal',
        port: 9_191,
        config_dir: dir,
        config_file: file,
        log_file: path.join(dir, 'own.log'),
        wait_for_tcp: [],
        command: [binary, '--config', file],
      },
    },
  });
  t.teardown(() => app.stop());
  t.match((await start(app, 'Portal')).body, {
    detail: 'Portal cannot start: its options public_url, cookie_domain are not set',
  });

  const updates = { public_url: 'https://auth.example.org', cookie_domain: 'example.org', log_level: 'WARNING' };
  await app.post('/config', { process_name: 'Portal', updates });
  const answer = await start(app, 'Portal');
  t.equal(answer.status, 200, answer.text);
  const text = await readFile(file, 'utf8');
  t.match(text, '# mine');
  t.same(parse(text), {
    theme: 'dark',
    server: { address: 'tcp://0.0.0.0:9191/' },
    log: { level: 'warn' },
    authentication_backend: { file: { path: `${dir}/users_database.yml` } },
    access_control: { default_policy: 'two_factor' },
    session: { cookies: [{ domain: 'example.org', authelia_url: 'https://auth.example.org' }] },
    storage: {
      postgres: { address: 'tcp://127.0.0.1:5999', database: 'authelia', schema: 'public', username: 'keeper' },
    },
    notifier: { filesystem: { filename: `${dir}/notification.txt` } },
  });
  const seen = await until(() => readFile(path.join(dir, 'seen'), 'utf8'));
  t.match(seen, `AUTHELIA_SESSION_SECRET_FILE=${dir}/secrets/session`);
  t.notMatch(seen, 'OIDC_HMAC');
  const session = await readFile(path.join(dir, 'secrets/session'), 'utf8');
  t.match(session, /^[0-9a-f]{96}$/);
  t.equal(await readFile(path.join(dir, 'secrets/postgres-password'), 'utf8'), 'pw');
  for (const name of ['session', 'storage', 'reset-password', 'postgres-password'])
    t.equal((await stat(path.join(dir, 'secrets', name))).mode & 0o077, 0, name);

  await writeFile(file, `${text}identity_providers:\n  oidc:\n    clients:\n      - client_id: a\n`);
  await app.post('/config', { process_name: 'Portal', updates: { log_level: 'Fatal' } });
  t.equal((await restart(app, 'Portal')).status, 200);
  t.match(await readFile(file, 'utf8'), 'level: error', 'a word that it knows');
  t.equal(await readFile(path.join(dir, 'secrets/session'), 'utf8'), session, 'made once');
  t.ok(existsSync(path.join(dir, 'secrets/oidc-hmac')));

  await app.post('/config', { process_name: 'Portal', updates: { cookie_domain: 'refused.example.org' } });
  t.match((await restart(app, 'Portal')).body, {
    detail: /Portal cannot start: .* config validate .* failed: .*session: refused$/,
  });
  t.same(parse(await readFile(file, 'utf8')).session, {
    cookies: [{ domain: 'refused.example.org', authelia_url: 'https://auth.example.org' }],
  });
});

t.test('only the port of the address follows the block', { skip }, async t => {
  const { configuration } = await import('../../../plugins/service-authelia/configuration.ts');
  const given = { processName: 'Portal', path: ['authelia'], configKey: 'authelia', key: 'authelia', isHost: false };
  const addressOf = (address: unknown) =>
    configuration({ ...given, block: { port: 9_191 } }, { server: { address } }).server;
  for (const [present, expected] of [
    [undefined, 'tcp://127.0.0.1:9191/'],
    ['', 'tcp://127.0.0.1:9191/'],
    ['tcp://127.0.0.1:9091', 'tcp://127.0.0.1:9191/'],
    ['tcp://:9091/', 'tcp://:9191/'],
    [':9091', 'tcp://:9191/'],
    ['tcp4://0.0.0.0:9091/portal', 'tcp4://0.0.0.0:9191/portal'],
    ['tcp6://[::]:9091/portal/', 'tcp6://[::]:9191/portal/'],
    ['[::1]', 'tcp://[::1]:9191/'],
    ['unix:///run/portal.sock?path=portal', 'tcp://127.0.0.1:9191/'],
    ['fd://:3', 'tcp://127.0.0.1:9191/'],
  ])
    t.same(addressOf(present), { address: expected }, String(present));
});

t.test('a domain replaces those it overlaps, and keeps what people wrote', { skip }, async t => {
  const { configuration } = await import('../../../plugins/service-authelia/configuration.ts');
  const given = { processName: 'Portal', path: ['authelia'], configKey: 'authelia', key: 'authelia', isHost: false };
  const cookiesOf = (domain: string, cookies: unknown) => {
    const block = { port: 9_191, cookie_domain: domain, public_url: `https://auth.${domain}` };
    return configuration({ ...given, block }, { session: { cookies } }).session;
  };
  const other = { domain: 'example.net', authelia_url: 'https://auth.example.net' };
  const look = { domain: 'anexample.org', authelia_url: 'https://auth.anexample.org' };
  const former = { domain: 'example.org', authelia_url: 'https://auth.example.org', name: 'mine' };
  const below = { domain: 'home.example.org', authelia_url: 'https://auth.home.example.org', name: 'mine' };
  t.same(cookiesOf('home.example.org', [other, former, look]), { cookies: [below, other, look] });
  t.same(cookiesOf('example.org', [other, below, look]), { cookies: [former, other, look] });
  t.same(cookiesOf('example.org', [below, { ...former, name: 'its own' }]), {
    cookies: [{ ...former, name: 'its own' }],
  });
});

t.test('the file has one notifier: that of the block, or one by hand', { skip }, async t => {
  const dir = testDir(t, {});
  await chmod(dir, 0o777);
  const binary = path.join(dir, 'authelia');
  await writeFile(binary, program(dir), { mode: 0o755 });
  const file = path.join(dir, 'configuration.yml');
  const app = await startHost({
    plugins: ['config', 'process', 'services', 'setup', 'service-authelia', 'config-files', 'format-yaml'],
    config: {
      authelia: {
        process_name: 'Portal',
        port: 9_191,
        config_dir: dir,
        config_file: file,
        log_file: path.join(dir, 'own.log'),
        wait_for_tcp: [],
        command: [binary, '--config', file],
        public_url: 'https://auth.example.org',
        cookie_domain: 'example.org',
      },
    },
  });
  t.teardown(() => app.stop());
  const notifierWith = async (notifier: object) => {
    await app.post('/config', { process_name: 'Portal', updates: { notifier } });
    const answer = await restart(app, 'Portal');
    t.equal(answer.status, 200, answer.text);
    return parse(await readFile(file, 'utf8')).notifier;
  };
  const ours = { filesystem: { filename: `${dir}/notification.txt` } };
  t.equal((await start(app, 'Portal')).status, 200);
  const mail = { address: 'submission://mail.example.org:587', sender: 'portal@example.org' };
  t.same(await notifierWith({ type: 'smtp', ...mail }), { smtp: { ...mail, disable_require_tls: false } });
  t.same(await notifierWith({ type: 'filesystem' }), ours, 'what it had written itself goes');

  const byHand = 'notifier:\n  # mine\n  smtp:\n    address: smtp://relay.example.org:25\n    sender: me@example.org\n';
  await writeFile(file, byHand);
  t.same(await notifierWith({ type: 'filesystem' }), {
    smtp: { address: 'smtp://relay.example.org:25', sender: 'me@example.org' },
  });
  t.match(await readFile(file, 'utf8'), '# mine');
  await writeFile(file, `${byHand}  filesystem:\n    filename: ${ours.filesystem.filename}\n`);
  t.same(Object.keys(await notifierWith({ type: 'filesystem' })), ['smtp'], 'as an earlier release has left it');
});
