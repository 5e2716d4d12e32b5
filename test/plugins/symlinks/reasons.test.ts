// The reasons for links and manifests that cannot be written: in words, with paths that people know.
import { spawnSync } from 'node:child_process';
import { readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { linkDir } from '../../support/links.ts';
import { isRoot } from '../../support/race.ts';
import { repairInput, restoreInput, startTaskChild, taskResult } from '../../support/symlink-task.ts';

const ROOT_ONLY = { skip: isRoot ? false : 'only root can mount' };
const ID = 'c'.repeat(32);
const RULES = [{ from_prefix: '/old', to_prefix: '/new' }];

t.test('a dry run and the restore give the same reason for a link', async t => {
  const dir = linkDir(t, { config: {}, root: {} });
  const manifestPath = path.join(dir, 'long.json');
  const link_path = path.join(dir, 'root', 'x'.repeat(300));
  writeFileSync(manifestPath, JSON.stringify({ entries: [{ link_path, target: '/a' }] }));
  for (const dryRun of [true, false]) {
    const options = { configDir: path.join(dir, 'config'), id: ID };
    const { errors } = await taskResult('restore', restoreInput({ manifestPath, dryRun }), options);
    t.same(errors, [{ link_path, error: 'name too long' }], `dry run: ${dryRun}`);
  }
});

t.test('a file whose name has no room for a suffix stays, and is told of before as well', async t => {
  const long = 'x'.repeat(240);
  const dir = linkDir(t, { config: {}, root: { [long]: 'media' } });
  const manifestPath = path.join(dir, 'long.json');
  const link_path = path.join(dir, 'root', long);
  writeFileSync(manifestPath, JSON.stringify({ entries: [{ link_path, target: '/a' }] }));
  for (const dryRun of [true, false]) {
    const options = { configDir: path.join(dir, 'config'), id: ID };
    const input = restoreInput({ manifestPath, dryRun, overwrites: true });
    const { restored, errors } = await taskResult('restore', input, options);
    t.match([restored, errors], [0, [{ link_path, error: /no room for \.replaced-\w+; move it away$/ }]]);
  }
  t.equal(readFileSync(link_path, 'utf8'), 'media');
});

t.test('a place where no manifest can be written is named', ROOT_ONLY, async t => {
  const dir = linkDir(t, { config: {}, locked: {}, root: { film: { to: '/old/film' } } });
  const locked = path.join(dir, 'locked');
  spawnSync('mount', ['-t', 'tmpfs', '-o', 'ro', 'none', locked]);
  t.teardown(() => spawnSync('umount', ['-l', locked]));
  const root = path.join(dir, 'root');
  const run = startTaskChild(t, { configDir: path.join(dir, 'config'), id: ID });
  const places = { 'undo.json': 'undo.json.partial', 'new/undo.json': 'new' };
  for (const [name, told] of Object.entries(places)) {
    const backupPath = path.join(locked, name);
    const end = await run('repair', repairInput({ roots: [root], rules: RULES, backupPath }));
    const message = `${path.join(locked, told)}: read-only file system`;
    t.match(end, { kind: 'failure', failure: { status: 500, message } });
  }
  t.equal(readlinkSync(path.join(root, 'film')), '/old/film');
});
