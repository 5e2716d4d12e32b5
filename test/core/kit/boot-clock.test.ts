// Times that are kept as clock ticks since boot, and what they are by the clock, also in a container that hides the age
// of the machine.
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import t from 'tap';
import { ticksNow, timeAt } from '../../../core/kit/boot-clock.ts';
import { testDir } from '../../support/directory.ts';

const run = promisify(execFile);
const isRoot = process.getuid?.() === 0;
/** A tick, and the time between two readings of a test on a busy machine. */
const NEAR_S = 5;

t.test('the ticks of now are the present time, and a tick always gives the same time', async t => {
  t.ok(Math.abs(timeAt(ticksNow()) - Date.now() / 1_000) < NEAR_S);
  t.equal(timeAt(100), timeAt(100));
  t.equal(timeAt(200) - timeAt(100), 1);
});

t.test('times are right when /proc/uptime is faked', { skip: isRoot ? false : 'only root may mount' }, async t => {
  const dir = testDir(t, {});
  const uptime = path.join(dir, 'uptime');
  await writeFile(uptime, '3.00 1.00\n');
  const module = fileURLToPath(new URL('../../../core/kit/boot-clock.ts', import.meta.url));
  const preload = fileURLToPath(new URL('../../runner/preload.mjs', import.meta.url));
  const script = `
    const { timeAt } = await import(${JSON.stringify(module)});
    const { readFileSync } = await import('node:fs');
    const stat = readFileSync('/proc/self/stat', 'latin1');
    const ticks = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]);
    console.log(JSON.stringify({ uptime: readFileSync('/proc/uptime', 'latin1'), ageS: Date.now() / 1_000 - timeAt(ticks) }));`;
  const mounted = 'mount --bind "$0" /proc/uptime && exec "$@"';
  const node = [process.execPath, `--import=${preload}`, '--input-type=module', '-e', script];
  const { stdout } = await run('unshare', ['--mount', 'sh', '-c', mounted, uptime, ...node], { timeout: 60_000 });
  const told = JSON.parse(stdout) as { readonly uptime: string; readonly ageS: number };
  t.equal(told.uptime, '3.00 1.00\n');
  t.ok(told.ageS >= -1 && told.ageS < 60, `a process that has just begun is ${told.ageS} s old`);
});
