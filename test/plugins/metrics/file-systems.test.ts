// The usage of a file system is cached for some seconds, because reading it starts a program. A dead mount affects no
// other numbers, and costs one process per path at most.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import { chmod, mkdir } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import t from 'tap';
import { FileSystems } from '../../../plugins/metrics/file-systems.ts';
import { testDir } from '../../support/directory.ts';
import { until } from '../../support/until.ts';

const run = promisify(execFile);
const isRoot = process.getuid?.() === 0;
const linkMount = fileURLToPath(new URL('../../support/link-mount.cjs', import.meta.url));
/** Longer than a path that did not answer is left alone. */
const LATER_MS = 61_000;

t.test('the usage of a path is cached for a while, and then read again', async t => {
  const fileSystems = new FileSystems();
  t.teardown(() => fileSystems.close());
  const [first] = await fileSystems.read(['/']);
  t.match(first, { path: '/', available: true });
  const [again, other] = await fileSystems.read(['/', '/proc']);
  t.equal(again, first);
  t.match(other, { path: '/proc', available: true }, 'a path that is new is looked at at once');
  await until(async () => (await fileSystems.read(['/']))[0] !== first);
});

t.test('a killed child process is replaced', async t => {
  const fileSystems = new FileSystems();
  t.teardown(() => fileSystems.close());
  await fileSystems.read(['/']);
  const [pid = 0] = fileSystems.pids();
  process.kill(pid, 'SIGKILL');
  await until(async () => (await run('ps', ['-o', 'stat=', '-p', String(pid)]).catch(() => null)) === null);
  t.match(await fileSystems.read(['/proc']), [{ path: '/proc', available: true }]);
});

t.test('usage is read without a descriptor for the table of mounts', async t => {
  const { readFileSync } = fs;
  const put = (read: typeof readFileSync) => {
    fs.readFileSync = read;
    syncBuiltinESMExports();
  };
  t.teardown(() => put(readFileSync));
  const fileSystems = new FileSystems();
  t.teardown(() => fileSystems.close());
  await fileSystems.read(['/proc']);
  put(((...given: Parameters<typeof readFileSync>) => {
    if (given[0] === '/proc/self/mountinfo') throw Object.assign(new Error('too many open files'), { code: 'EMFILE' });
    return readFileSync(...given);
  }) as typeof readFileSync);
  const [usage] = await fileSystems.read(['/']);
  t.match(usage, { path: '/', available: true, mountPoint: null, type: null }, 'what can be told is');
  t.ok((usage?.space.total ?? 0) > 0);
  t.same(await fileSystems.candidates(), []);
});

t.test('paths on a dead mount cost one process each', { skip: isRoot ? false : 'only root may mount' }, async t => {
  const place = path.join(testDir(t), 'dead');
  await mkdir(place);
  await chmod(place, 0o755);
  const server = spawn(process.execPath, [linkMount, place, '0', '0', '0'], { stdio: ['ignore', 'pipe', 'inherit'] });
  const over = () => run('umount', ['--lazy', place]);
  const { now } = performance;
  t.teardown(async () => {
    performance.now = now;
    server.kill('SIGKILL');
    await over();
  });
  await once(server.stdout, 'data');
  const dead = Array.from({ length: 6 }, (_, index) => path.join(place, 'hang', String(index)));
  const fileSystems = new FileSystems();
  t.teardown(() => fileSystems.close());
  const children = async () =>
    (await run('pgrep', ['-P', String(process.pid), '-f', 'while IFS'])).stdout.split('\n').filter(Boolean);

  const beganMs = now.call(performance);
  const usages = await fileSystems.read([...dead, '/']);
  t.ok(now.call(performance) - beganMs < 9_000, 'they are waited for together');
  t.match(usages.at(-1), { path: '/', available: true }, 'what lies elsewhere is told');
  for (const usage of usages.slice(0, -1)) t.match(usage, { available: false, stalled: true });

  const hanging = () => until(async () => (await children()).length === dead.length, { what: 'one child on each' });
  await hanging();
  for (const round of [1, 2]) {
    performance.now = () => now.call(performance) + round * LATER_MS;
    for (const usage of await fileSystems.read(dead)) t.match(usage, { stalled: true });
    t.match(await fileSystems.read(['/']), [{ available: true }], 'the questions before it are answered');
    t.equal((await children()).length, dead.length + 1, 'no second one hangs');
  }
  t.same(new Set(fileSystems.pids().map(String)), new Set(await children()), 'they are told as those of the host');

  await run('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', place]);
  t.match(await fileSystems.read([dead[0] ?? '']), [{ available: false, stalled: false }], 'another mount is asked');
  await run('umount', [place]);
  server.kill('SIGKILL');
  await until(async () => (await children()).length === 1, { what: 'the children to end with the mount' });
  t.match(
    await fileSystems.read(dead.slice(1, 2)),
    [{ available: false, stalled: false }],
    'and so is one that is over',
  );
});
