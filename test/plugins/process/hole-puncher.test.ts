// The blocks of read output are given back to the disk: the file keeps its size and the rest of its content, and a
// failure has a reason. One child process does it for all files, and is replaced when it ends.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { type FileHandle, mkdir, open, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { Capture } from '../../../plugins/process/capture/capture.ts';
import { HolePuncher, PunchImpossible } from '../../../plugins/process/capture/hole-puncher.ts';
import { testDir } from '../../support/directory.ts';

const BLOCK_BYTES = 4_096;
const NAMES = ['one.spool', 'two.spool', 'three.spool'];

async function spools(directory: string): Promise<void> {
  const text = Buffer.concat([Buffer.alloc(64 * BLOCK_BYTES, 'r'), Buffer.alloc(BLOCK_BYTES, 'u')]);
  await Promise.all(NAMES.map(name => writeFile(path.join(directory, name), text)));
}

/** Child processes that run fallocate. */
async function children(): Promise<number[]> {
  const pids = (await readFile(`/proc/self/task/${process.pid}/children`, 'utf8')).split(' ').filter(Boolean);
  const texts = await Promise.all(pids.map(pid => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')));
  return pids.filter((_pid, index) => texts[index]?.includes('fallocate')).map(Number);
}

t.test('blocks of read output are freed, and the rest is as it was', async t => {
  const directory = t.testdir();
  await spools(directory);
  const puncher = new HolePuncher(directory);
  t.teardown(() => puncher.close());
  await Promise.all(NAMES.map(name => puncher.punch(name, 64 * BLOCK_BYTES)));
  t.equal((await children()).length, 1, 'one child did it');
  for (const name of NAMES) {
    const { size, blocks } = await stat(path.join(directory, name));
    t.equal(size, 65 * BLOCK_BYTES);
    t.ok(blocks * 512 <= 2 * BLOCK_BYTES, `${blocks} blocks are left`);
    t.match((await readFile(path.join(directory, name))).subarray(-BLOCK_BYTES), Buffer.alloc(BLOCK_BYTES, 'u'));
  }
});

t.test('nothing is left of its child when it is closed', async t => {
  const directory = t.testdir();
  await spools(directory);
  const pids = () => readFileSync(`/proc/self/task/${process.pid}/children`, 'utf8');
  const before = pids();
  const puncher = new HolePuncher(directory);
  await puncher.punch('one.spool', BLOCK_BYTES);
  t.not(pids(), before);
  await puncher.close();
  t.equal(pids(), before, 'the thread may end now, without a zombie');
});

t.test('each answer belongs to its file', async t => {
  const directory = t.testdir();
  await spools(directory);
  const puncher = new HolePuncher(directory);
  t.teardown(() => puncher.close());
  const first = puncher.punch('one.spool', BLOCK_BYTES);
  const missing = puncher.punch('gone.spool', BLOCK_BYTES);
  const last = puncher.punch('two.spool', BLOCK_BYTES);
  await t.rejects(missing, { message: /gone\.spool.*No such file/ });
  await t.resolves(first);
  await t.resolves(last);
});

t.test('a killed child process fails its calls, and the next call starts another', async t => {
  const directory = t.testdir();
  await spools(directory);
  const puncher = new HolePuncher(directory);
  t.teardown(() => puncher.close());
  await puncher.punch('one.spool', BLOCK_BYTES);
  const [pid = 0] = await children();
  process.kill(pid, 'SIGSTOP');
  const answer = puncher.punch('two.spool', BLOCK_BYTES);
  process.kill(pid, 'SIGKILL');
  await t.rejects(answer, { message: /the shell that starts fallocate ended/ });
  await t.resolves(puncher.punch('two.spool', BLOCK_BYTES));
});

t.test('open calls fail at the end', async t => {
  const directory = t.testdir();
  await spools(directory);
  const puncher = new HolePuncher(directory);
  const answer = puncher.punch('one.spool', BLOCK_BYTES);
  puncher.close();
  await t.rejects(answer);
});

async function isImpossible(puncher: HolePuncher, name: string): Promise<boolean> {
  const failure: unknown = await puncher.punch(name, BLOCK_BYTES).catch((error: unknown) => error);
  t.ok(failure instanceof Error);
  return failure instanceof PunchImpossible;
}

t.test('without the program, and on a file system that keeps all blocks, nothing can be freed', async t => {
  const directory = testDir(t, { bin: {}, unable: {} });
  await spools(directory);
  const { PATH = '' } = process.env;
  t.teardown(() => {
    process.env.PATH = PATH;
  });
  process.env.PATH = path.join(directory, 'bin');
  await symlink('/usr/bin/tr', path.join(directory, 'bin/tr'));
  const puncher = new HolePuncher(directory);
  t.teardown(() => puncher.close());
  t.ok(await isImpossible(puncher, 'one.spool'));
  process.env.PATH = PATH;

  const unable = path.join(directory, 'unable');
  if (spawnSync('mount', ['-t', 'ramfs', 'none', unable]).status !== 0) return;
  t.teardown(() => void spawnSync('umount', [unable]));
  await spools(unable);
  const other = new HolePuncher(unable);
  t.teardown(() => other.close());
  t.ok(await isImpossible(other, 'one.spool'));
  t.notOk(await isImpossible(other, 'unsupported.spool'), 'a name says nothing');
});

t.test('a spool whose blocks cannot be freed does not keep those of others', async t => {
  const directory = testDir(t, {});
  const told: string[] = [];
  const capture = new Capture({
    directory,
    rotation: () => ({ maxBytes: 1e9, keep: 1 }),
    ownLevel: () => 'INFO',
    deliver: async () => undefined,
    log: { warn: text => told.push(text), error: text => t.fail(text) },
    onFault: () => t.fail('full'),
  });
  t.teardown(() => capture.close());
  const target = { logFile: null, accessLogFile: null, logLevel: 'INFO', suppressed: true, owner: null } as const;
  const begin = async (processName: string) => {
    const file = path.join(directory, `${processName}.spool`);
    const session = await capture.open({ ...target, processName }, file);
    const handle = await open(file, 'a');
    t.teardown(() => handle.close());
    return { file, session, handle };
  };
  const text = `${'x'.repeat(BLOCK_BYTES - 1)}\n`.repeat(5 * 1024);
  const flood = async ({ handle, session }: { handle: FileHandle; session: { settled(): Promise<void> } }) => {
    await handle.appendFile(text);
    await session.settled();
  };
  const [one, two] = [await begin('one'), await begin('two')];
  await rm(one.file);
  await flood(one);
  t.same(told, [], 'a spool that is gone needs no room');
  await mkdir(one.file);
  await flood(one);
  await flood(one);
  t.match(told, [/^consumed output could not be released; it will be with further output$/]);
  await flood(two);
  const { size, blocks } = await stat(two.file);
  t.equal(size, text.length);
  t.ok(blocks * 512 < size / 2, `${blocks} blocks are left`);
});
