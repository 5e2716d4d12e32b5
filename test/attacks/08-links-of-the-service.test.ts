// Line 8: where a service puts links, the host as root neither writes, removes, truncates nor gives away what they lead
// to.
import { renameSync, symlinkSync } from 'node:fs';
import { chmod, chown, link, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import t, { type Test } from 'tap';
import { GuardedDirectory } from '../../core/kit/guarded-directory.ts';
import { RotatingFile } from '../../core/kit/rotating-file.ts';
import { Capture } from '../../plugins/process/capture/capture.ts';
import { PositionFile } from '../../plugins/process/capture/position.ts';
import { startHost } from '../support/host.ts';
import { kid, start } from '../support/kids.ts';
import { NOBODY, ROOT_ONLY } from '../support/race.ts';

async function places(t: Test) {
  const root = await mkdtemp(path.join(tmpdir(), 'stackwarden-links-'));
  t.teardown(() => rm(root, { recursive: true }));
  const [ours, theirs] = [path.join(root, 'ours'), path.join(root, 'theirs')];
  await chmod(root, 0o755);
  await mkdir(ours);
  await mkdir(theirs);
  await chown(theirs, NOBODY, NOBODY);
  return { ours, theirs };
}

t.test('env_copy neither reads nor writes what the service user could not', ROOT_ONLY, async t => {
  const { ours, theirs } = await places(t);
  await writeFile(path.join(ours, 'secret'), 'secret\n', { mode: 0o600 });
  await writeFile(path.join(theirs, 'source'), 'A=1\n');
  await symlink(ours, path.join(theirs, 'way'));
  await symlink(path.join(ours, 'secret'), path.join(theirs, 'alias'));
  const block = (name: string, source: string, destination: string) =>
    kid(name, ['calm'], { env_copy: { source, destination } });
  const app = await startHost({
    config: {
      leak: block('Leak', path.join(theirs, 'alias'), path.join(theirs, 'leaked')),
      write: block('Write', path.join(theirs, 'source'), path.join(theirs, 'way', 'written')),
      over: block('Over', path.join(theirs, 'source'), path.join(theirs, 'alias')),
    },
  });
  t.teardown(() => app.stop());
  for (const name of ['Leak', 'Write']) {
    const { status, body } = await start(app, name);
    t.match({ status, body }, { status: 500, body: { detail: /could not be copied .*; let user 65534/ } }, name);
  }
  t.equal((await start(app, 'Over')).status, 200, 'its own link is replaced');
  t.same(await readdir(ours), ['secret']);
  t.equal(await readFile(path.join(ours, 'secret'), 'utf8'), 'secret\n');
  t.equal(await readFile(path.join(theirs, 'alias'), 'utf8'), 'A=1\n');
});

t.test('a config_dir that its service has exchanged for a link is none of its directories', ROOT_ONLY, async t => {
  const { ours, theirs } = await places(t);
  const secret = path.join(ours, 'secret.yaml');
  await writeFile(secret, 'secret: 1\n', { mode: 0o600 });
  const config_dir = path.join(theirs, 'config');
  await symlink(ours, config_dir);
  const app = await startHost({
    plugins: ['config', 'process', 'config-files', 'format-yaml'],
    config: { app: kid('App', ['calm'], { config_dir, config_file: path.join(config_dir, 'secret.yaml') }) },
  });
  t.teardown(() => app.stop());
  const refused = { status: 403, body: { detail: /lies outside the directories of App/ } };
  t.match(await app.post('/config/service-config', { service_name: 'App' }), refused);
  t.match(await app.post('/config/service-config', { service_name: 'App', updates: { a: 1 } }), refused);
  t.equal(await readFile(secret, 'utf8'), 'secret: 1\n');
});

t.test('a folder that becomes a link in the middle of a rotation is not followed', ROOT_ONLY, async t => {
  const { ours, theirs } = await places(t);
  const folder = path.join(theirs, 'folder');
  const kept = ['app-2020-01-01_1.log', 'app-2020-01-02_1.log', 'app.log'];
  for (const name of kept) await writeFile(path.join(ours, name), 'kept\n');
  await mkdir(folder);
  await writeFile(path.join(folder, 'app.log'), 'long enough to be rotated\n');
  const warnings: string[] = [];
  let asked = 0;
  const log = new RotatingFile({
    file: path.join(folder, 'app.log'),
    // Asked when the file is open, and again when the rotation begins.
    rotation: () => {
      asked += 1;
      if (asked === 1) {
        renameSync(folder, `${folder}.aside`);
        symlinkSync(ours, folder);
      }
      return { maxBytes: 1, keep: 0 };
    },
    owner: { uid: NOBODY, gid: NOBODY },
    warn: (message, error) => warnings.push(`${message}: ${(error as Error | undefined)?.message}`),
  });
  t.notOk(await log.prepare(5));
  await log.close();
  t.match(warnings, [/a link that others may have made/]);
  t.same((await readdir(ours)).sort(), kept);
  for (const name of kept) {
    const file = path.join(ours, name);
    t.equal(await readFile(file, 'utf8'), 'kept\n');
    t.equal((await stat(file)).uid, 0);
  }
});

t.test('after a kill only the log itself is cut back, whatever has taken its inode number', ROOT_ONLY, async t => {
  const { ours, theirs } = await places(t);
  const secret = path.join(ours, 'secret');
  await writeFile(secret, 'a file that is longer than what was recorded\n');
  await symlink(secret, path.join(theirs, 'app.log'));
  await link(secret, path.join(theirs, 'app-2020-01-01_1.log'));
  const { dev, ino } = await stat(secret);
  const spoolFile = path.join(ours, 'app.spool');
  await writeFile(spoolFile, 'line\n');
  const { positions } = await GuardedDirectory.at(`${spoolFile}.position`, PositionFile.open);
  const pending = { logBytes: 3, pendingBytes: 100, logFile: path.join(theirs, 'app.log') };
  await positions.record({ consumedBytes: 0, logDevice: dev, logInode: ino, ...pending });
  await positions.close();
  const log = { warn: () => undefined, error: () => undefined };
  const capture = new Capture({
    directory: ours,
    ownLevel: () => 'INFO',
    rotation: () => ({ maxBytes: 1e6, keep: 2 }),
    deliver: async () => undefined,
    log,
    onFault: () => undefined,
  });
  const target = { processName: 'App', logFile: path.join(theirs, 'app.log'), accessLogFile: null };
  const session = await capture.open({ ...target, logLevel: 'INFO', suppressed: true, owner: null }, spoolFile);
  await session.finish();
  await capture.close();
  t.equal(await readFile(secret, 'utf8'), 'a file that is longer than what was recorded\n');
});
