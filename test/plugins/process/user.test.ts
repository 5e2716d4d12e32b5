// The user of a program and what comes with it: groups, home, umask, session and directory.
import { chmod, chown, readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import t, { type Test } from 'tap';
import { testDir } from '../../support/directory.ts';
import { startHost } from '../../support/host.ts';
import { pidOf, start } from '../../support/kids.ts';
import { startStackwarden, writeConfig } from '../../support/stackwarden.ts';
import { until } from '../../support/until.ts';

const asRoot = process.getuid?.() === 0;
const needsRoot = { skip: asRoot ? false : 'changing the user needs root' };
/** A uid without an account. */
const STRANGER = 54_321;
const NOBODY = 65_534;

/** Prints its own facts; a shell is used because a runtime would add some. */
const script = `echo "cwd=$(pwd)"; echo "umask=$(umask)"
echo "stdin=$(readlink /proc/$$/fd/0)"; echo "HOME=$HOME"; echo "USER=$USER"; echo "LOGNAME=$LOGNAME"
grep -E '^(Uid|Gid|Groups):' /proc/$$/status | tr '\\t' ' ' | sed 's/: */=/'
echo end; exec sleep 600`;

async function run(t: Test, services: Record<string, object>, root: object = {}) {
  const dir = testDir(t, { work: {} });
  await chmod(dir, 0o755);
  await chmod(path.join(dir, 'work'), 0o755);
  const block = (name: string, more: object) => ({
    enabled: false,
    process_name: name,
    command: ['sh', '-c', script],
    config_dir: path.join(dir, 'work'),
    log_file: path.join(dir, `${name}.log`),
    suppress_logging: true,
    stop_grace_seconds: 1,
    ...more,
  });
  const app = await startHost({
    plugins: ['config', 'process', 'services'],
    config: {
      ...root,
      dumb: { log_dir: dir },
      ...Object.fromEntries(Object.entries(services).map(([name, more]) => [name, block(name, more)])),
    },
  });
  t.teardown(() => app.stop());
  /** Starts the program and reads what it printed. */
  const said = async (name: string): Promise<Record<string, string>> => {
    const answer = await start(app, name);
    t.equal(answer.status, 200, answer.text);
    const log = path.join(dir, `${name}.log`);
    await until(async () => / subprocess: end\n/.test(await readFile(log, 'utf8')));
    const text = await readFile(log, 'utf8');
    return Object.fromEntries([...text.matchAll(/ subprocess: (\w+)=(.*)$/gm)].map(([, key, value]) => [key, value]));
  };
  return { app, dir, said };
}

t.test('a program gets a umask, a session and a directory of its own', async t => {
  // Created first: the first test in a new checkout also creates the directory of all fixtures.
  testDir(t, {});
  const before = process.umask(0o077);
  t.teardown(() => process.umask(before));
  const { app, dir, said } = await run(t, { kid: {} });
  const found = await said('kid');
  t.match(found, { cwd: path.join(dir, 'work'), umask: '0022', stdin: '/dev/null' });
  t.equal(process.umask(), 0o077, 'the own one is as it was');
  const pid = await pidOf(app, 'kid');
  const fields = (await readFile(`/proc/${pid}/stat`, 'utf8')).replace(/^.*\) /, '').split(' ');
  t.match(fields.slice(2, 4), [String(pid), String(pid)], 'leader of its own process group and session');
});

t.test('no descriptor of the host is passed on, nor one that the host was given', async t => {
  const configDir = testDir(t, {});
  const sleeper = { enabled: true, process_name: 'Kid', command: ['sleep', '600'], stop_grace_seconds: 1 };
  const port = await writeConfig(configDir, { kid: sleeper });
  const host = await startStackwarden(configDir, port, { openDescriptor: 40, plugins: ['process'] });
  t.teardown(async () => {
    host.child.kill('SIGTERM');
    await host.exited;
  });
  const pid = await until(async () => {
    const state = JSON.parse(await readFile(path.join(configDir, 'supervisor', 'state.json'), 'utf8'));
    return state.processes.Kid?.pid as number | undefined;
  });
  // The child is a copy of the host until it executes the program.
  await until(async () => (await readFile(`/proc/${pid}/comm`, 'utf8')) === 'sleep\n');
  const descriptors = await until(async () => {
    const found = (await readdir(`/proc/${pid}/fd`)).sort();
    // The loader opens libraries for a moment.
    return found.length === 3 && found;
  });
  t.same(descriptors, ['0', '1', '2']);
});

t.test('the configured user, with its home and no other groups', needsRoot, async t => {
  const { said } = await run(t, {
    nobody: {},
    own: { env: { HOME: '/own/home', LOGNAME: 'somebody' } },
    without: { env: { USER: null } },
  });
  const ids = { Uid: /^65534 65534 65534 65534$/, Gid: /^65534 65534 65534 65534$/ };
  const nobody = await said('nobody');
  t.match(nobody, { ...ids, USER: 'nobody', LOGNAME: 'nobody' });
  t.not(nobody.HOME, process.env.HOME);
  t.notOk(/\b0\b/.test(String(nobody.Groups)), 'not in the group of the host');
  t.match(await said('own'), { ...ids, HOME: '/own/home', USER: 'nobody', LOGNAME: 'somebody' });
  t.match(await said('without'), { ...ids, USER: '', LOGNAME: 'nobody' });
});

t.test('a user without an account gets /tmp as home', needsRoot, async t => {
  const { said } = await run(t, { stranger: {} }, { puid: STRANGER, pgid: STRANGER + 1 });
  const stranger = await said('stranger');
  t.match(stranger, {
    Uid: new RegExp(`^${STRANGER} ${STRANGER}`),
    Gid: new RegExp(`^${STRANGER + 1} ${STRANGER + 1}`),
    HOME: '/tmp',
    USER: String(STRANGER),
    LOGNAME: String(STRANGER),
  });
});

t.test('a host that cannot change users says so once', needsRoot, async t => {
  const dir = testDir(t, {});
  const port = await writeConfig(dir, {
    puid: STRANGER,
    kid: { enabled: true, process_name: 'Kid', command: ['sleep', '600'] },
    other: { enabled: true, process_name: 'Other', command: ['sleep', '600'], user: 'daemon' },
  });
  for (const place of [dir, path.join(dir, 'stackwarden.json')]) await chown(place, NOBODY, NOBODY);
  const host = await startStackwarden(dir, port, {
    plugins: ['config', 'process', 'services'],
    within: ['setpriv', `--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups'],
  });
  await until(() => host.stdout().includes('Kid runs as pid') && host.stdout().includes('Other cannot start'));
  const told = host.stdout().match(/ - WARNING - process: services run as user .*/g);
  t.match(told, [/user 65534, as Stackwarden itself does; puid and pgid need a start as root$/]);
  t.match(
    host.stdout(),
    /Other cannot start as user daemon, because Stackwarden does not run as root; start it as root/,
  );
  host.child.kill('SIGTERM');
  t.match(await host.exited, { code: 0 });
});
