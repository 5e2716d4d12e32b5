// Snapshots of links by a real host: what is saved, compared and restored, and what is refused.
import { symlinkSync } from 'node:fs';
import { readFile, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { startHost } from '../../support/host.ts';
import { found, linkDir } from '../../support/links.ts';
import { NOBODY } from '../../support/race.ts';

t.test('snapshots', async t => {
  const host = await startHost({ plugins: ['symlinks', 'services', 'process'] });
  t.teardown(() => host.stop());
  const snapshots = path.join(host.configDir, 'symlink-repair/snapshots');
  const backup = (body: object) => host.post('/process/symlink-manifest/backup', body);
  const restore = (body: object) => host.post('/process/symlink-manifest/restore', body);
  const compare = (query: Record<string, string>) =>
    host.get(`/process/symlink-manifest/compare?${new URLSearchParams(query)}`);

  t.test('a snapshot names every link in the order of the walk, and brings them back', async t => {
    const root = linkDir(t, {
      b: { to: '/t/b' },
      a: { 'é x': { to: '../a/"y"' }, deeper: { z: { to: '/t/z' } } },
      B: 'text',
    });
    symlinkSync(Buffer.from('/t/\xff\xfe', 'latin1'), Buffer.from(`${root}/a/\xe9`, 'latin1'));
    const before = found(root);
    const made = await backup({ backup_path: '/config/symlink-repair/snapshots/latest.json', roots: [root] });
    const file = path.join(snapshots, 'latest.json');
    t.match(
      made,
      { status: 200, body: { backup_manifest: file, recorded_entries: 4, scanned_symlinks: 4, errors: [] } },
      made.text,
    );
    const { entries, ...header } = JSON.parse(await readFile(file, 'utf8'));
    t.match(header, { manifest_type: 'symlink_snapshot', roots: [root], include_broken: true, targets_checked: false });
    t.match(header.created_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    t.same(Object.keys(header).at(-1), 'process_name');
    t.same(
      entries.map((entry: { link_path: string }) => entry.link_path.slice(root.length)),
      ['/b', '/a/é x', '/a/�', '/a/deeper/z'],
    );
    t.match(entries[0], { target: '/t/b', target_exists: null });
    t.match(await stat(file), { uid: NOBODY, gid: NOBODY, mode: 0o100640 });

    const long = path.join(snapshots, `${'é'.repeat(121)}.json`);
    for (const _ of [1, 2]) {
      const { body } = await backup({ backup_path: long, roots: [root] });
      t.match(body, { backup_manifest: long, recorded_entries: 4 }, 'under a name that is as long as it may be');
    }

    await rm(path.join(root, 'a'), { recursive: true });
    const query = { manifest_path: file };
    t.match((await compare(query)).body, { total_entries: 4, projected_restored: 3, projected_skipped_unchanged: 1 });
    const preview = await restore(query);
    t.match(
      preview.body,
      { dry_run: true, restored: 3, skipped_unchanged: 1, manifest_type: 'symlink_snapshot' },
      preview.text,
    );
    await t.rejects(stat(path.join(root, 'a')));
    const restored = await restore({ ...query, dry_run: false });
    t.match(
      restored.body,
      { dry_run: false, restored: 3, skipped_unchanged: 1, errors: [], total_entries: 4 },
      restored.text,
    );
    t.equal(found(root), before);
    t.match((await restore({ ...query, dry_run: false })).body, { restored: 0, skipped_unchanged: 4 });
  });
});
