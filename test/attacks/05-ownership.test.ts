// Line 5 and, of line 21, the repair beside a rotation and a removed log directory: the host gives away its own logs,
// known by their names, and nothing else.
import { chmod, chown, mkdir, readdir, rename, rm, stat, symlink, writeFile } from 'node:fs/promises';
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
  await repairOwnership([...logs, path.join(logDir, 'link.log')], OWNER, fault).finally(() => {
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
  await repairOwnership([path.join(file, 'app.log'), log], OWNER, place => void faults.push(place));
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
