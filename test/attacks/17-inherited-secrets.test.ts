// Line 17: a service inherits the host's environment without its secrets and settings, but for those it asks for by
// name.
import { chmod, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { runChild } from '../../core/kit/fs-out-of-process.ts';
import { marks } from '../../core/kit/left-over.ts';
import { testDir } from '../support/directory.ts';
import { asOwner, startHost } from '../support/host.ts';
import { kid, start } from '../support/kids.ts';
import { until } from '../support/until.ts';

/** Beside what every service needs, such as PATH. */
const OPEN = {
  TZ: 'Europe/Berlin',
  SOME_SETTING: 'shown',
  KEYBOARD: 'qwerty',
  JAVA_OPTS: '-Xmx1g -Dkey=value -Dfile.encoding=UTF-8',
  SEXTANT: 'north',
  DESKTOP_SESSION: 'plain',
  SESSION_TYPE: 'tty',
  COOKIE_DOMAIN: 'example.org',
  HTTP_PROXY_OF_OURS: 'http://proxy:3128/a@b',
};
const SECRET = {
  STACKWARDEN_TOKEN: 'host-secret-01',
  GITHUB_TOKEN: 'host-secret-02',
  POSTGRES_PASSWORD: 'host-secret-03',
  PGPASSWORD: 'host-secret-04',
  RIVEN_API_KEY: 'host-secret-05',
  PLEX_CLAIM: 'host-secret-06',
  APP_SECRET: 'host-secret-07',
  DB_PASS: 'host-secret-08',
  DB_PWD: 'host-secret-09',
  KEY: 'host-secret-10',
  SENTRY_DSN: 'host-secret-11',
  AWS_ACCESS_KEY_ID: 'host-secret-12',
  SSH_AUTH_SOCK: '/run/host-secret-13',
  DATABASE_URL: 'postgres://bob:host-secret-14@db/x',
  JDBC_OPTIONS: 'Host=db;Username=bob;Password=host-secret-16',
  CREDS: 'ghp_hostsecret17abcdefghijklmnopqrstuvwxyz',
  HOOK: 'https://discord.com/api/webhooks/123456789/host-secret-18',
  EXTRA: 'Authorization: Bearer host-secret-19',
  npm_config__auth: 'host-secret-15',
  COOKIE: 'host-secret-20',
  SITE_COOKIES: 'host-secret-21',
  DB_CREDS: 'host-secret-22',
  SSHPASS: 'host-secret-23',
  BEARER: 'host-secret-24',
  ADMIN_OTP: 'host-secret-25',
  SESSION: 'host-secret-26',
  BW_SESSION: 'host-secret-27',
  OP_SESSION_home: 'host-secret-28',
  NETRC: '/run/host-secret-29',
  PGPASSFILE: '/run/host-secret-30',
  HTTP_AUTHORIZATION: 'host-secret-31',
  REDIS_PW: 'host-secret-32',
  HASH_SALT: 'host-secret-33',
};
/** What overrides a member of the configuration is meant for the host, whatever its name. */
const OVERRIDING = { KID_LOG_LEVEL: 'DEBUG', DUMB_API_SERVICE_LOG_LEVEL: 'ERROR' };
/** With it the services of a host would end with the work of another host that has started it. */
const OF_ANOTHER = marks('of another host');
/** The log would not show them. */
const UNSHOWN = { MAINTAINER: 'me@example.org', COMPASS: 'south' };
const ASKED = { ASKED_TOKEN: 'asked-1', EXPANDED_TOKEN: 'asked-2' };

t.test('what a service finds in its environment', async t => {
  const own = { ...OPEN, ...SECRET, ...OVERRIDING, ...ASKED, ...UNSHOWN, ...OF_ANOTHER };
  const before = { ...process.env };
  Object.assign(process.env, own);
  t.teardown(() => {
    for (const name of [...Object.keys(own), 'PATH', 'REAL_PATH']) {
      if (before[name] === undefined) delete process.env[name];
      else process.env[name] = before[name];
    }
  });
  const dir = testDir(t, { log: {}, bin: {}, copies: {}, source: 'A=1' });
  await chmod(path.join(dir, 'copies'), 0o777);
  const shown = path.join(dir, 'copies', 'environment');
  await writeFile(path.join(dir, 'bin', 'install'), `#!/bin/sh\nenv > ${shown}\nPATH=$REAL_PATH exec install "$@"\n`, {
    mode: 0o755,
  });
  Object.assign(process.env, { REAL_PATH: before.PATH, PATH: `${path.join(dir, 'bin')}:${before.PATH}` });
  const logFile = path.join(dir, 'log', 'kid.log');
  const app = await startHost({
    config: {
      dumb: { log_dir: path.join(dir, 'log') },
      kid: kid('Kid', ['show-environment'], {
        log_file: logFile,
        log_level: 'INFO',
        env_copy: { source: path.join(dir, 'source'), destination: path.join(dir, 'copies', 'destination') },
        env_passthrough: ['ASKED_TOKEN', 'NOT_THERE', 'constructor'],
        // Redaction would hide the value behind the name of the variable.
        env: { EXPANDED: `\${EXPANDED_TOKEN}`, PLAIN: `\${constructor}`, COPY: 'kept' },
      }),
    },
  });
  t.teardown(() => app.stop());
  t.equal((await start(app, 'Kid')).status, 200);
  const line = await until(async () => /environment (\{.*\})/.exec(await readFile(logFile, 'utf8'))?.[1]);
  t.notMatch(line, /host-secret/);
  for (const name of Object.keys({ ...SECRET, ...OVERRIDING, ...OF_ANOTHER })) t.notMatch(line, `"${name}"`);
  for (const [name, value] of Object.entries(OPEN)) t.match(line, `"${name}":"${value}"`);
  t.match(line, '"PATH":');
  for (const name of Object.keys(UNSHOWN)) t.match(line, `"${name}":`);
  t.match(line, '"ASKED_TOKEN":', 'asked for by name');
  t.match(line, '"EXPANDED":"asked-2"');
  t.match(line, `"PLAIN":"\${constructor}"`);
  t.notMatch(line, /"constructor":|NOT_THERE/);
  t.equal(await readFile(path.join(dir, 'copies', 'destination'), 'utf8'), 'A=1');
  t.notMatch(await readFile(shown, 'utf8'), /host-secret/, 'what copies a file for it has none either');
  const schema = JSON.stringify((await app.get('/config/schema')).body);
  t.match(schema, 'env_passthrough');
});

t.test('a child that acts as the user of the services gets none either', async t => {
  process.env.STACKWARDEN_TEST_TOKEN = 'host-secret';
  t.teardown(() => {
    delete process.env.STACKWARDEN_TEST_TOKEN;
  });
  const { output } = await runChild('env', [], 10_000, process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {});
  t.match(output, 'PATH=');
  t.notMatch(output, 'host-secret');
});

t.test('nobody asks for a secret without a login', async t => {
  const own = { STACKWARDEN_TEST_TOKEN: 'host-secret', STACKWARDEN_TEST_DSN: 'host-secret', STACKWARDEN_TEST: 'open' };
  Object.assign(process.env, own);
  t.teardown(() => {
    for (const name of Object.keys(own)) delete process.env[name];
  });
  const asks = { env_passthrough: ['STACKWARDEN_TEST_TOKEN'] };
  const app = await startHost({ plugins: ['auth', 'config', 'process'], config: { kid: kid('Kid', ['calm'], asks) } });
  t.teardown(() => app.stop());
  const change = (updates: object) => app.post('/config', { process_name: 'Kid', updates });
  const TOKEN = { env_passthrough: ['STACKWARDEN_TEST_DSN'] };
  const VALUE = { env: { PLAIN: `x\${STACKWARDEN_TEST_DSN}` } };
  for (const updates of [TOKEN, VALUE, { ...VALUE, ...asks }]) {
    const made = { process_name: 'Made', command: ['true'], ...updates };
    for (const answer of [await change(updates), await app.post('/config', { updates: { made } })])
      t.match(answer, {
        status: 403,
        body: { detail: /STACKWARDEN_TEST_(DSN|TOKEN), a secret .*; switch it on, or ask for it in/ },
      });
  }
  t.equal(
    (await change({ ...asks, env: { A: `\${STACKWARDEN_TEST}\${STACKWARDEN_TEST_TOKEN}\${NOT_THERE_TOKEN}` } })).status,
    200,
  );

  const owner = await asOwner(app);
  t.equal((await owner.post('/config', { process_name: 'Kid', updates: TOKEN })).status, 200);
});
