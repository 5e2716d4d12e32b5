// Files on file systems that others answer for are examined by one child process, which a dead mount may cost.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import { fileVersion, fileVersions, listNames } from '../../../core/kit/fs-out-of-process.ts';
import { readMounts } from '../../../core/kit/mountinfo.ts';
import { testDir } from '../../support/directory.ts';
import { until } from '../../support/until.ts';

const run = promisify(execFile);
const skip = process.getuid?.() === 0 ? false : 'only root may mount';

async function childrenOfThis(): Promise<string[]> {
  return (await readFile(`/proc/self/task/${process.pid}/children`, 'utf8')).split(' ').filter(Boolean);
}

/** Child processes of this process that examine files. */
async function lookers(): Promise<string[]> {
  const pids = await childrenOfThis();
  const texts = await Promise.all(pids.map(pid => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')));
  return pids.filter((_pid, index) => texts[index]?.includes('looks[kind]'));
}

t.test('one child process examines all files, and is replaced when a mount hangs', { skip }, async t => {
  const dir = testDir(t, { other: {}, dead: {} });
  const [other, dead] = [path.join(dir, 'other'), path.join(dir, 'dead')];
  t.teardown(async () => {
    for (const place of [dead, other]) await run('umount', ['--lazy', place]).catch(() => undefined);
  });
  // A file system of a kind that does not count as local, and that answers.
  await run('mount', ['-t', 'hugetlbfs', 'other', other]);
  const file = path.join(other, 'a|b\nc');
  await writeFile(file, '');
  const first = await fileVersion(file);
  t.match(first, /^\d+:\d+:0:\d+$/);
  const [child] = await lookers();
  t.ok(child, 'it was not looked at from here');
  t.equal(await fileVersion(path.join(other, 'none')), null);
  t.same([...(await fileVersions([file, path.join(other, 'none'), dir])).keys()].sort(), [dir, file].sort());
  await mkdir(path.join(other, 'sub'));
  t.same((await listNames(other)).sort(), ['a|b\nc', 'sub']);
  t.same(await listNames(path.join(other, 'none')), []);
  await Promise.all(Array.from({ length: 200 }, () => fileVersion(file)));
  t.same(await lookers(), [child], 'always the same');

  const script = `exec 5<>/dev/fuse; mount -i -t fuse.test -o fd=5,rootmode=40000,user_id=0,group_id=0 dead ${dead}; exec sleep 1000`;
  const server = spawn('bash', ['-c', script], { stdio: 'ignore' });
  await until(async () => (await readMounts()).some(({ directory }) => directory === dead), { what: 'the mount' });
  const hung = [1, 2, 3].map(number => fileVersion(path.join(dead, `file ${number}`), 300));
  const others = Array.from({ length: 20 }, () => fileVersion(file, 60_000));
  const ends = await Promise.allSettled(hung);
  t.same(
    ends.map(end => end.status === 'rejected' && end.reason.message),
    [1, 2, 3].map(number => `${path.join(dead, `file ${number}`)} does not answer`),
  );
  t.same(new Set(await Promise.all(others)), new Set([first]), 'nobody else has lost his answer');
  t.equal(await fileVersion(file, 60_000), first);
  const [next] = await lookers();
  t.not(next, child);
  process.kill(Number(next), 'SIGKILL');
  await until(async () => !(await lookers()).includes(next as string), { what: 'its end' });
  t.equal(await fileVersion(file, 60_000), first, 'and one that was ended is replaced too');
  server.kill('SIGKILL');
  await once(server, 'exit');
});

t.test('a file over which one child process hangs costs no second one', { skip }, async t => {
  const mount = path.join(testDir(t, { mount: {} }), 'mount');
  const program = path.join(import.meta.dirname, '../../support/link-mount.cjs');
  const server = spawn(process.execPath, [program, mount, '1', '1', '0'], { stdio: ['ignore', 'pipe', 'inherit'] });
  t.teardown(async () => {
    server.kill('SIGKILL');
    await run('umount', ['--lazy', mount]).catch(() => undefined);
  });
  await once(server.stdout, 'data');
  const [silent, answered] = [path.join(mount, 'hang', 'a'), path.join(mount, 'files', 'f')];
  const version = await fileVersion(answered);
  t.type(version, 'string');
  const first = (await lookers())[0] as string;
  const count = (await childrenOfThis()).length;
  for (let round = 0; round < 5; round += 1) {
    await t.rejects(fileVersions([answered, silent], 500), { message: `${silent} does not answer` });
    t.equal(await fileVersion(answered), version, 'others on the same mount are answered');
  }
  // A process that hangs in its end has no command line any more.
  t.ok((await childrenOfThis()).includes(first), 'the one that asked hangs');
  t.equal((await childrenOfThis()).length, count + 1, 'and one answers the others');

  server.kill('SIGKILL');
  await once(server, 'exit');
  await until(async () => !(await childrenOfThis()).includes(first), { what: 'the end of the child' });
  t.equal(await fileVersion(silent), null, 'the mount is asked again once the child is gone');
});
