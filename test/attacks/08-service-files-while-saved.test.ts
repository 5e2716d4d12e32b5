// A service exchanges its own file while the host, as root, reads and saves it: nothing elsewhere is read or written.
import { execFileSync } from 'node:child_process';
import { chmod, chown, mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import t, { type Test } from 'tap';
import { holdFile } from '../../plugins/config-files/held-file.ts';
import { testDir } from '../support/directory.ts';
import { startHost } from '../support/host.ts';
import { NOBODY, ROOT_ONLY, race } from '../support/race.ts';

const SECRET = 'password: only-for-root\n';

/** A directory of `nobody` with a file, and something of root's beside it that `nobody` can name but not read. */
async function open(t: Test) {
  const root = testDir(t, { own: { 'a.yaml': 'a: 1\n' }, outside: { 'secret.yaml': SECRET, 'a.yaml': SECRET } });
  const own = path.join(root, 'own');
  const outside = path.join(root, 'outside');
  await chmod(root, 0o755);
  for (const name of ['secret.yaml', 'a.yaml']) await chmod(path.join(outside, name), 0o600);
  await chmod(outside, 0o700);
  await chown(own, NOBODY, NOBODY);
  await chown(path.join(own, 'a.yaml'), NOBODY, NOBODY);
  const nothingOutsideChanged = async () => {
    t.same((await readdir(outside)).sort(), ['a.yaml', 'secret.yaml']);
    for (const name of ['secret.yaml', 'a.yaml']) {
      t.equal(await readFile(path.join(outside, name), 'utf8'), SECRET);
      t.match(await stat(path.join(outside, name)), { uid: 0, gid: 0, nlink: 1 });
      t.equal((await stat(path.join(outside, name))).mode & 0o777, 0o600);
    }
  };
  return { root, own, outside, file: path.join(own, 'a.yaml'), nothingOutsideChanged };
}

/** Of the work, which writes every 20th time; the entries are exchanged 10,000 times meanwhile. */
const ROUNDS = 2_000;

/** Work for a race: it reads and saves the file. `leaks` counts what came along that is not the service's. */
function reader(file: string) {
  const seen = { leaks: 0, rounds: 0 };
  const work = () =>
    holdFile(file, async held => {
      seen.rounds += 1;
      const { text } = await held.read();
      if (text.includes('only-for-root')) seen.leaks += 1;
      else if (seen.rounds % 20 === 0) await held.write(text);
    });
  return { seen, work };
}

t.test('file, link and FIFO take turns while it is saved', ROOT_ONLY, async t => {
  const { own, outside, file, nothingOutsideChanged } = await open(t);
  const others = ['file', 'link', 'file2', 'pipe'].map(name => path.join(own, name));
  await writeFile(path.join(own, 'file'), 'a: 1\n');
  await writeFile(path.join(own, 'file2'), 'a: 2\n');
  await symlink(path.join(outside, 'secret.yaml'), path.join(own, 'link'));
  execFileSync('mkfifo', [path.join(own, 'pipe')]);
  for (const name of ['file', 'file2', 'pipe']) await chown(path.join(own, name), NOBODY, NOBODY);
  const { seen, work } = reader(file);
  t.ok((await race({ place: file, others, rounds: ROUNDS, work })) > 0, 'some of it succeeds');
  t.equal(seen.leaks, 0, 'nothing of root was read');
  await nothingOutsideChanged();
});

t.test('its directory and a link to another one take turns while it is saved', ROOT_ONLY, async t => {
  const { root, outside, nothingOutsideChanged } = await open(t);
  const home = path.join(root, 'home');
  const others = [path.join(home, 'real'), path.join(home, 'link')];
  await mkdir(path.join(home, 'real'), { recursive: true });
  await writeFile(path.join(home, 'real', 'a.yaml'), 'a: 1\n');
  await symlink(outside, path.join(home, 'link'));
  for (const at of [home, path.join(home, 'real'), path.join(home, 'real', 'a.yaml')]) await chown(at, NOBODY, NOBODY);
  const place = path.join(home, 'config');
  const { seen, work } = reader(path.join(place, 'a.yaml'));
  t.ok((await race({ place, others, rounds: ROUNDS, work })) > 0, 'some of it succeeds');
  t.equal(seen.leaks, 0, 'nothing of root was read');
  await nothingOutsideChanged();
});

t.test('what took the place of the file after it was read is not followed, and not replaced', ROOT_ONLY, async t => {
  const { own, outside, file, nothingOutsideChanged } = await open(t);
  const takeover: Readonly<Record<string, () => Promise<unknown> | unknown>> = {
    link: () => symlink(path.join(outside, 'secret.yaml'), file),
    FIFO: () => execFileSync('mkfifo', [file]),
    directory: () => mkdir(file),
    file: () => writeFile(file, 'b: 2\n'),
  };
  for (const [kind, take] of Object.entries(takeover)) {
    await writeFile(file, 'a: 1\n');
    const saved = holdFile(file, async held => {
      await held.read();
      execFileSync('mv', [file, path.join(own, `was-${kind}`)]);
      await take();
      await held.write('a: 2\n');
    });
    await t.rejects(saved, { message: /taken the place|no regular file/ }, kind);
    execFileSync('mv', [file, path.join(own, `is-${kind}`)]);
  }
  await nothingOutsideChanged();
});

t.test('over HTTP: the file keeps its owner and mode, and a FIFO keeps nobody waiting', ROOT_ONLY, async t => {
  const { root, own, outside, file, nothingOutsideChanged } = await open(t);
  await chmod(file, 0o640);
  const app = await startHost({
    plugins: ['config', 'process', 'config-files', 'format-yaml'],
    config: { service: { process_name: 'Service', config_dir: own, config_file: file } },
  });
  t.teardown(() => app.stop());
  const call = (updates?: object) => app.post('/config/service-config', { service_name: 'Service', updates });
  t.equal((await call({ a: 2 })).status, 200);
  const kept = await stat(file);
  t.match(kept, { uid: NOBODY, gid: NOBODY });
  t.equal(kept.mode & 0o777, 0o640);

  const place = async (kind: string, make: () => unknown) => {
    execFileSync('rm', ['-rf', file]);
    await make();
    for (const updates of [undefined, { a: 3 }])
      t.match(await call(updates), { status: /^40[34]$|^409$/ as never, body: { detail: String } }, kind);
  };
  await place('a FIFO', () => execFileSync('mkfifo', [file]));
  await place('a link to a file of root', () => symlink(path.join(outside, 'secret.yaml'), file));
  await place('a directory', () => mkdir(file));
  await place('a device', () => execFileSync('mknod', [file, 'c', '1', '5']));
  await place('a second name for a file of root', () => execFileSync('ln', [path.join(outside, 'secret.yaml'), file]));
  execFileSync('rm', ['-rf', file]);
  t.equal((await readdir(root)).length, 2);
  await nothingOutsideChanged();
});
