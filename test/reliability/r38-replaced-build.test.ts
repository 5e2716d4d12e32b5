// R38: a build is replaced while the host runs from it. The host goes on with what it was started from, and an upgrade
// by SIGTERM and start leaves the services as they are.
import { readdir, readFile, readlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import path from 'node:path';
import bcrypt from 'bcryptjs';
import t from 'tap';
import { checkOut } from '../support/checkout.ts';
import { freePort, writeConfig } from '../support/stackwarden.ts';
import { until } from '../support/until.ts';

const BUILDS = 2;
const TRIMMED = 'process,config,logs,health,host-plugins,auth';
const ACCOUNT = { username: 'me-myself', password: 'a long password' };
const SERVICE = { command: ['sleep', '600'], config_dir: '/', stop_grace_seconds: 1 };

t.test('builds under a running host, then an upgrade', { timeout: 500_000 }, async t => {
  const checkout = await checkOut(t);
  const configDir = path.join(checkout.directory, 'config');
  const web = createServer((_request, response) => response.end('here'));
  await new Promise<void>(resolve => web.listen(0, '127.0.0.1', resolve));
  t.teardown(() => web.close());
  const { port: webPort } = web.address() as { port: number };
  const port = await freePort();
  await writeConfig(configDir, {
    dumb: {
      log_dir: path.join(configDir, 'log'),
      gateway: { enabled: false },
      api_service: { port },
      shutdown: { keep_services: true },
    },
    sleeper: { ...SERVICE, enabled: true, process_name: 'Sleeper' },
    late: { ...SERVICE, enabled: false, process_name: 'Late', wait_for_url: [`http://127.0.0.1:${webPort}/`] },
  });

  const build = (...args: string[]) => checkout.run('npm', ['run', '--silent', 'build', '--', ...args]);
  const builds = async () => (await readdir(path.join(checkout.directory, '.builds'))).sort();
  const ask = (route: string, json?: object, token = '') =>
    fetch(`http://127.0.0.1:${port}${route}`, {
      headers: { 'content-type': 'application/json', ...(token === '' ? {} : { authorization: `Bearer ${token}` }) },
      ...(json === undefined ? {} : { method: 'POST', body: JSON.stringify(json) }),
    });
  const pidOf = async (name: string): Promise<number | undefined> =>
    JSON.parse(await readFile(path.join(configDir, 'supervisor', 'state.json'), 'utf8')).processes[name]?.pid;
  const start = async () => {
    const child = checkout.spawn(process.execPath, ['dist/core/cli/main.js', 'start', '--config-dir', configDir]);
    let output = '';
    child.stdout?.on('data', text => {
      output += text;
    });
    const exited = new Promise<number | null>(resolve => child.once('exit', resolve));
    t.teardown(() => child.kill('SIGKILL'));
    await until(async () => child.exitCode !== null || (await ask('/health')).status > 0, { timeoutMs: 90_000 });
    t.equal(child.exitCode, null, output);
    return { child, exited, output: () => output };
  };

  await build();
  const [first = ''] = await builds();
  const host = await start();
  const pid = (await until(() => pidOf('Sleeper'))) ?? 0;
  t.teardown(() => process.kill(pid, 'SIGKILL'));
  const plugins = async () => JSON.stringify(await (await ask('/host/plugins')).json());
  const before = await plugins();
  for (let number = 1; number <= BUILDS; number += 1) {
    await build('--plugins', TRIMMED);
    t.equal(host.child.exitCode, null, `build ${number}: the host goes on`);
    t.equal(await plugins(), before, `build ${number}: nothing is loaded anew`);
  }
  const kept = await builds();
  t.equal(kept.length, 3, 'the newest and the one before are kept');
  t.ok(kept.includes(first), 'and the one that runs');
  t.equal(await readlink(path.join(checkout.directory, 'dist')), `.builds/${kept.at(-1)}`);

  // Nobody has needed any of these until now: the client of HTTP, and the thread that checks old passwords.
  const late = await ask('/process/start-service', { process_name: 'Late' });
  t.equal(late.status, 200, await late.text());
  const latePid = (await pidOf('Late')) ?? 0;
  t.teardown(() => process.kill(latePid, 'SIGKILL'));
  t.equal((await ask('/auth/setup', ACCOUNT)).status, 200);
  const users = path.join(configDir, 'users.json');
  const stored = await readFile(users, 'utf8');
  const hash = bcrypt.hashSync(ACCOUNT.password, 4);
  await writeFile(
    users,
    stored.replace(/\$scrypt\$[^"]*/, () => hash),
  );
  t.not(await readFile(users, 'utf8'), stored);
  await until(async () => (await ask('/auth/login', ACCOUNT)).ok && /\$scrypt\$/.test(await readFile(users, 'utf8')), {
    what: 'a login by the old hash, which is then replaced',
  });
  t.notMatch(host.output(), /Cannot find|ENOENT|MODULE_NOT_FOUND/);

  host.child.kill('SIGTERM');
  t.equal(await host.exited, 0);
  const next = await start();
  const { access_token: token } = (await (await ask('/auth/login', ACCOUNT)).json()) as { access_token: string };
  t.equal((await ask('/process/core-services', undefined, token)).status, 404, 'the new build runs');
  // The host answers before it has looked at what runs.
  await until(async () => {
    const entry = await ask('/process/service-status?process_name=Sleeper', undefined, token);
    return ((await entry.json()) as { status: string }).status === 'running';
  });
  t.same([await pidOf('Sleeper'), await pidOf('Late')], [pid, latePid], 'no service was touched');
  next.child.kill('SIGTERM');
  t.equal(await next.exited, 0);
});
