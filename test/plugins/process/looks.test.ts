// All processes are read in turns of the event loop, however many processes a service has.
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { setImmediate as nextTurn } from 'node:timers/promises';
import t from 'tap';
import { lookSince } from '../../../plugins/process/supervise/proc-table.ts';

const PROCESSES = 2_000;
/** The least time of each read in this test; with it, more than a piece of the work takes as long as a turn may. */
const READ_MS = 0.1;
const MAX_READS = 300;

/** Makes `/proc` list so many processes, by repeating the real ones, and counts the reads in each turn. */
function manyProcesses(): { readonly readsByTurn: number[]; restore(): void } {
  const { readdirSync, openSync } = fs;
  const readsByTurn = [0];
  const replace = (functions: object): void => {
    Object.assign(fs, functions);
    syncBuiltinESMExports();
  };
  const list = (file: string, ...rest: unknown[]): unknown => {
    const names = (readdirSync as (...args: unknown[]) => string[])(file, ...rest);
    if (file !== '/proc') return names;
    const pids = names.filter(name => Number(name) > 0);
    return Array.from({ length: PROCESSES }, (_, index) => pids[index % pids.length]);
  };
  const open = (file: string, ...rest: unknown[]): unknown => {
    if (/^\/proc\/\d+\/stat$/.test(file)) {
      readsByTurn.push((readsByTurn.pop() ?? 0) + 1);
      for (const sinceMs = performance.now(); performance.now() - sinceMs < READ_MS; );
    }
    return (openSync as (...args: unknown[]) => unknown)(file, ...rest);
  };
  replace({ readdirSync: list, openSync: open });
  return { readsByTurn, restore: () => replace({ readdirSync, openSync }) };
}

t.test('thousands of processes are read in many turns', async t => {
  const { readsByTurn, restore } = manyProcesses();
  t.teardown(restore);
  let isDone = false;
  const looking = lookSince(performance.now()).finally(() => {
    isDone = true;
  });
  while (!isDone) {
    await nextTurn();
    readsByTurn.push(0);
  }
  t.ok((await looking).get(process.ppid), 'the parent is among them');
  t.equal(
    readsByTurn.reduce((sum, count) => sum + count, 0),
    PROCESSES,
  );
  t.ok(Math.max(...readsByTurn) <= MAX_READS, `${Math.max(...readsByTurn)} reads in one turn`);
});
