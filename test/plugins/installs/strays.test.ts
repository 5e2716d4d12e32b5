// A file that appears in the folder of a service after its swap was planned, under a name that the new release has too,
// is kept with the previous release, and returns with it.
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { GuardedDirectory } from '../../../core/kit/guarded-directory.ts';
import { carryOut, planSwap, undo, WORK } from '../../../plugins/installs/swap.ts';
import { testDir } from '../../support/directory.ts';

t.test('such a file is neither overwritten nor lost', async t => {
  const dir = testDir(t, {
    program: 'old',
    [WORK]: { incoming: { program: 'new', notes: 'of the release' }, outgoing: {} },
  });
  const read = (place: string): string => readFileSync(path.join(dir, place), 'utf8');
  const folder = await GuardedDirectory.open(dir);
  t.teardown(() => folder.close());
  const { outs, ins } = await planSwap(folder, 'incoming', { keeps: new Set(), clears: false });
  t.same({ outs, ins: ins.toSorted() }, { outs: ['program'], ins: ['notes', 'program'] });
  writeFileSync(path.join(dir, 'notes'), 'of somebody');
  const swap = { incoming: 'incoming', outgoing: 'outgoing', outs, ins };
  const whole = { ...swap, installed: { version: 'new', installedAt: null }, previous: null };

  await carryOut(folder, whole, null);
  t.same([read('program'), read('notes')], ['new', 'of the release']);
  const kept = readdirSync(path.join(dir, WORK, 'outgoing'));
  t.same(kept.map(name => read(path.join(WORK, 'outgoing', name))).sort(), ['of somebody', 'old']);
  await carryOut(folder, whole, null);
  t.same([read('program'), read('notes')], ['new', 'of the release'], 'again it changes nothing');

  await undo(folder, whole, null);
  t.same([read('program'), read('notes')], ['old', 'of somebody']);
  await undo(folder, whole, null);
  t.same([read('program'), read('notes')], ['old', 'of somebody'], 'nor does that');
});

t.test('a new release that is gone before its swap removes nothing of the present one', async t => {
  const dir = testDir(t, { program: 'old', [WORK]: { incoming: { program: 'new' }, outgoing: {} } });
  const folder = await GuardedDirectory.open(dir);
  t.teardown(() => folder.close());
  const plan = await planSwap(folder, 'incoming', { keeps: new Set(), clears: false });
  rmSync(path.join(dir, WORK, 'incoming/program'));
  const swap = { incoming: 'incoming', outgoing: 'outgoing', ...plan };
  await undo(folder, { ...swap, installed: { version: 'new', installedAt: null }, previous: null }, null);
  t.equal(readFileSync(path.join(dir, 'program'), 'utf8'), 'old');
});
