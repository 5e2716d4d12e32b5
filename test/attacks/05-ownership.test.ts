// Line 5 and, of line 21, the repair beside a rotation and a removed log directory: the host gives away its own logs,
// known by their names, and nothing else.
import { chmod, chown, mkdir, readdir, readFile, rename, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import t, { type Test } from 'tap';
import { RotatingFile } from '../../core/kit/rotating-file.ts';
import { repairOwnership } from '../../plugins/process/launch/ownership.ts';
import { testDir } from '../support/directory.ts';
import { startHost } from '../support/host.ts';
import { kid, start } from '../support/kids.ts';
import { NOBODY, ROOT_ONLY } from '../support/race.ts';
import { until } from '../support/until.ts';

const FORMER = 1_234;
const DAEMON = 1;
const OWNER = { uid: NOBODY, gid: NOBODY };

async function boot(t: Test, logDir: string) {
  const app = await startHost({
    plugins: ['config', 'process', 'logs', 'health'],
    config: { dumb: { log_dir: logDir }, kid: kid('Kid', ['calm'], { log_file: path.join(logDir, 'kid.log') }) },
  });
  t.teardown(() => app.stop());
  await until(async () => (await app.get('/health')).body.startup?.terminal !== false);
  return app;
}

const ownerOf = async (file: string) => (await stat(file)).uid;
const owned = (...logs: string[]) => new Map(logs.map(log => [log, OWNER]));

t.test('a shared directory keeps its owner and all that is not a log of the host', ROOT_ONLY, async t => {
  const logDir = path.join(
    testDir(t, { log: { 'kid.log': '', 'kid-2020-01-02_1.log': '', 'DUMB-2020-01-01.log': '' } }),
    'log',
  );
  const at = (name: string) => path.join(logDir, name);
  for (const name of ['kid.log', 'kid-2020-01-02_1.log', 'DUMB-2020-01-01.log']) await chown(at(name), FORMER, FORMER);
  for (const name of ['passwd', 'other.log', 'kid-of-others.log']) await writeFile(at(name), '');
  await chown(at('other.log'), FORMER, FORMER);
  await boot(t, logDir);
  for (const name of ['kid.log', 'kid-2020-01-02_1.log', 'DUMB-2020-01-01.log'])
    await until(async () => (await ownerOf(at(name))) === NOBODY, { what: name });
  t.equal(await ownerOf(logDir), 0);
  t.equal(await ownerOf(at('passwd')), 0);
  t.equal(await ownerOf(at('kid-of-others.log')), 0);
  t.equal(await ownerOf(at('other.log')), FORMER);
});

t.test('a directory that the log only goes to for want of another is left alone', ROOT_ONLY, async t => {
  const temporary = testDir(t, { 'users.json': '{}', 'kid.log': '', blocked: 'a file' });
  const before = process.env.TMPDIR;
  process.env.TMPDIR = temporary;
  t.teardown(() => {
    if (before === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = before;
  });
  t.equal(tmpdir(), temporary);
  await chown(path.join(temporary, 'kid.log'), FORMER, FORMER);
  const app = await boot(t, path.join(temporary, 'blocked', 'log'));
  t.match((await app.get('/logs?process_name=DUMB')).body.chunk, /Stackwarden .* starts/);
  t.equal(await ownerOf(temporary), 0);
  t.equal(await ownerOf(path.join(temporary, 'users.json')), 0);
  t.equal(await ownerOf(path.join(temporary, 'kid.log')), FORMER);
  const [place = ''] = (await readdir(temporary)).filter(name => name.startsWith('stackwarden-log-'));
  const { uid, mode } = await stat(path.join(temporary, place));
  t.match({ uid, mode: mode & 0o777 }, { uid: 0, mode: 0o700 });
});

t.test('a log in the directory of a service is given to the user of the service', ROOT_ONLY, async t => {
  const dir = testDir(t, { config: { templates: { services: {} } } });
  await chmod(dir, 0o755);
  const configDir = path.join(dir, 'config');
  const log = path.join(dir, 'own', 'logs', 'speaker.log');
  const template = {
    key: 'speaker',
    displayName: 'Speaker',
    kind: 'optional',
    description: 'A service whose output is its log.',
    links: {},
    block: {
      enabled: false,
      process_name: 'Speaker',
      command: ['sh', '-c', 'echo said; exec sleep 600'],
      config_dir: path.join(dir, 'own'),
      log_file: log,
    },
    launch: { hostWritesLog: true },
    stop: { tier: 2 },
  };
  await writeFile(path.join(configDir, 'templates/services/speaker.json'), JSON.stringify(template));
  await mkdir(path.dirname(path.dirname(log)));
  const open = async () => {
    const config = { speaker: { user: 'daemon' } };
    const app = await startHost({ configDir, plugins: ['config', 'process', 'services', 'logs', 'health'], config });
    t.teardown(() => app.stop());
    await until(async () => (await app.get('/health')).body.startup?.terminal !== false);
    return app;
  };
  const first = await open();
  t.match(await start(first, 'Speaker'), { status: 200 });
  await until(async () => (await readFile(log, 'utf8').catch(() => '')).includes('said'));
  for (const place of [log, path.dirname(log)]) t.equal(await ownerOf(place), DAEMON, place);
  t.match((await first.get('/logs?process_name=Speaker')).body.chunk, /said/);
  await first.stop();
  await chown(log, FORMER, FORMER);
  await open();
  await until(async () => (await ownerOf(log)) === DAEMON, { what: 'the log to be given back' });
});

t.test('logs that are rotated meanwhile, and links in their place, do not end the repair', ROOT_ONLY, async t => {
  const root = testDir(t, { log: {}, outside: '' });
  const logDir = path.join(root, 'log');
  const logs = Array.from({ length: 40 }, (_, i) => path.join(logDir, `app-${i}.log`));
  await chmod(root, 0o755);
  await chown(logDir, NOBODY, NOBODY);
  for (const log of logs) {
    await writeFile(log, '');
    await chown(log, FORMER, FORMER);
  }
  await symlink(path.join(root, 'outside'), path.join(logDir, 'link.log'));
  let repairing = true;
  const rotating = (async () => {
    for (let i = 0; repairing; i = (i + 1) % 20) {
      const log = path.join(logDir, `app-${i}.log`);
      await rename(log, `${log}.away`).then(() => rename(`${log}.away`, log));
    }
  })();
  const fault = (place: string) => t.fail(place);
  await repairOwnership(owned(...logs, path.join(logDir, 'link.log')), fault).finally(() => {
    repairing = false;
  });
  await rotating;
  for (const log of logs.slice(20)) t.equal(await ownerOf(log), NOBODY);
  t.equal(await ownerOf(path.join(root, 'outside')), 0);
});

t.test('a place where the repair fails is named, and hinders no other', ROOT_ONLY, async t => {
  const root = testDir(t, { file: '', log: { 'kid.log': '' } });
  const [file, log] = [path.join(root, 'file'), path.join(root, 'log', 'kid.log')];
  await chmod(root, 0o755);
  await chown(path.dirname(log), NOBODY, NOBODY);
  await chown(log, FORMER, FORMER);
  const faults: string[] = [];
  await repairOwnership(owned(path.join(file, 'app.log'), log), place => void faults.push(place));
  t.same(faults, [file]);
  t.equal(await ownerOf(log), NOBODY);
});

t.test('a log directory that was removed comes back as that of the service user', ROOT_ONLY, async t => {
  const root = testDir(t, {});
  await mkdir(path.join(root, 'kept'));
  const logDir = path.join(root, 'kept', 'log');
  const app = await boot(t, logDir);
  await until(async () => (await ownerOf(logDir)) === NOBODY);
  await rm(logDir, { recursive: true });
  await start(app, 'Kid');
  await until(async () => (await ownerOf(logDir)) === NOBODY, { what: 'the directory to come back' });
  t.equal(await ownerOf(path.join(root, 'kept')), 0);
});

for (const parent of ['root', 'the service user'])
  t.test(`a log directory in one of ${parent} comes back so whichever of its logs is the first`, ROOT_ONLY, async t => {
    const root = testDir(t, {});
    if (parent !== 'root') await chown(root, NOBODY, NOBODY);
    const logDir = path.join(root, 'log');
    const logs = Array.from({ length: 12 }, (_, index) => {
      const file = path.join(logDir, `app-${index}.log`);
      const rotation = () => ({ maxBytes: 1_000_000, keep: 1 });
      return new RotatingFile({ file, rotation, owner: OWNER, warn: message => t.fail(message) });
    });
    const found: { uid: number; mode: number }[] = [];
    for (let round = 0; round < 30; round += 1) {
      await rm(logDir, { recursive: true, force: true });
      await Promise.all(logs.map(log => log.prepare(1)));
      const { uid, mode } = await stat(logDir);
      found.push({ uid, mode: mode & 0o7777 });
    }
    await Promise.all(logs.map(log => log.close()));
    t.same(found, Array(30).fill({ uid: NOBODY, mode: 0o755 }));
  });
