// What was read of a spool is given back to the disk: the file keeps its size and what follows, and what cannot be
// given back is told with a reason. One child does it for all, and another one takes its place when it has ended.
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

/** Those that start fallocate. */
async function children(): Promise<number[]> {
  const pids = (await readFile(`/proc/self/task/${process.pid}/children`, 'utf8')).split(' ').filter(Boolean);
  const texts = await Promise.all(pids.map(pid => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')));
  return pids.filter((_pid, index) => texts[index]?.includes('fallocate')).map(Number);
}

t.test('the blocks of what was read are free, and the rest is as it was', async t => {
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

t.test('each answer is that of its file', async t => {
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

t.test('a child that is killed fails what it was asked, and the next question starts another one', async t => {
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

t.test('its end fails what is open', async t => {
  const directory = t.testdir();
  await spools(directory);
  const puncher = new HolePuncher(directory);
  const answer = puncher.punch('one.spool', BLOCK_BYTES);
  puncher.close();
  await t.rejects(answer);
});
