// The blocks of read output are given back to the disk: the file keeps its size and the rest of its content, and a
// failure has a reason. One child process does it for all files, and is replaced when it ends.
import { readFileSync } from 'node:fs';
import { readFile, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { HolePuncher } from '../../../plugins/process/capture/hole-puncher.ts';

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
