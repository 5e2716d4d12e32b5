// What a restore does with each entry: dry run, comparison and restore agree, nothing is lost, and nothing is written
// outside of the roots.
import { mkdir, readdir, readFile, readlink, rm, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { startHost } from '../../support/host.ts';
import { found, linkDir } from '../../support/links.ts';

t.test('restores', async t => {
  const host = await startHost({ plugins: ['symlinks', 'services', 'process'] });
  t.teardown(() => host.stop());
  const snapshots = path.join(host.configDir, 'symlink-repair/snapshots');
  await mkdir(snapshots, { recursive: true });
  const restore = (body: object) => host.post('/process/symlink-manifest/restore', body);
  const compare = (query: object) =>
    host.get(`/process/symlink-manifest/compare?${new URLSearchParams(query as Record<string, string>)}`);
  const save = async (name: string, content: object | string) => {
    await writeFile(path.join(snapshots, name), typeof content === 'string' ? content : JSON.stringify(content));
    return { manifest_path: name };
  };

  t.test('each kind of entry is restored by its rule', async t => {
    const root = linkDir(t, {
      same: { to: '/t/1' },
      other: { to: '/t/other' },
      file: 'media',
      directory: { inside: { to: 'x' } },
      target: 'x',
    });
    const links: [string, string][] = [
      ['same', '/t/1'],
      ['other', '/t/2'],
      ['file', '/t/3'],
      ['directory', '/t/4'],
      ['new/deep/link', path.join(root, 'target')],
      ['file/below', '/t/5'],
    ];
    const entries = [
      ...links.map(([name, target]) => ({ link_path: path.join(root, name), target })),
      { link_path: path.join(root, '..', 'outside'), target: '/t/6' },
      { link_path: 'relative', target: '/t/7' },
      { link_path: path.join(root, 'blank'), target: ' ' },
      'no entry',
    ];
    const manifest = await save('kinds.json', { roots: [root], entries });
    const counts = { total_entries: 10, skipped_unchanged: 1, skipped_invalid_entries: 2 };
    const preview = (await restore(manifest)).body;
    t.match(preview, { ...counts, restored: 1, skipped_existing: 3, errors_total: 3 });
    const answer = (await compare(manifest)).body;
    t.match(answer, { projected_restored: 1, projected_skipped_existing: 3, projected_errors: 3, total_entries: 10 });
    t.match(
      answer.sample_changes.map((sample: { action: string }) => sample.action),
      ['skip_unchanged', 'skip_existing', 'skip_existing', 'skip_existing', 'create'],
    );
    t.match(answer.sample_changes[1], { current_target: '/t/other', target: '/t/2' });
    t.equal(answer.sample_changes[2].current_target, null);
    t.notOk('current_target' in answer.sample_changes[4]);
    t.match(
      answer.errors.map(({ error }: { error: string }) => error),
      [/no directory/, /outside/, /not absolute/],
    );
    const broken = (await restore({ ...manifest, restore_broken: false })).body;
    t.match(broken, { restored: 1, skipped_nonexistent_target: 4, skipped_unchanged: 0 });

    const overwriting = { ...manifest, overwrite_existing: true };
    const projected = (await compare(overwriting)).body;
    t.match(projected, { projected_restored: 3, projected_errors: 4, projected_skipped_existing: 0 });
    const done = (await restore({ ...overwriting, dry_run: false })).body;
    t.match(done, { ...counts, restored: 3, skipped_existing: 0, errors_total: 4, replaced_files: 1 });
    t.equal(await readlink(path.join(root, 'other')), '/t/2');
    t.equal(await readlink(path.join(root, 'file')), '/t/3');
    const kept = (await readdir(root)).find(name => name.startsWith('file.replaced-')) ?? '';
    t.match(kept, /^file\.replaced-\d{8}T\d{6}Z$/);
    t.equal(await readFile(path.join(root, kept), 'utf8'), 'media');
    t.same(await readdir(path.join(root, 'directory')), ['inside']);
  });

  t.test('manifests that name protected places, or lead out of their roots, write nothing', async t => {
    const root = linkDir(t, { way: { to: '/etc' }, inside: {} });
    const outside = linkDir(t);
    await symlink(outside, path.join(root, 'elsewhere'));
    const anywhere = ['/etc/stackwarden-test', '/proc/x', '/etc/../etc/x', '/', `${root}/way/x`];
    const below = [...anywhere, `${root}/elsewhere/x`, `${root}/inside/../../x`, `${root}x`, root];
    const before = found(root);
    for (const [roots, paths] of [
      [[], anywhere],
      [[root], below],
    ] as const) {
      const manifest = await save('hostile.json', {
        roots,
        entries: paths.map(link => ({ link_path: link, target: '/t' })),
      });
      t.match((await restore(manifest)).body, { restored: 0, errors_total: paths.length });
      t.match((await restore({ ...manifest, dry_run: false, overwrite_existing: true })).body, { restored: 0 });
    }
    t.equal(found(root), before);
    t.same(await readdir(outside), []);
    for (const manifest of ['/etc/passwd', '/proc/self/environ', '/root/x.json']) {
      const answer = await restore({ manifest_path: manifest });
      t.equal(answer.status, 400);
      t.notMatch(answer.text, /root:/);
    }
    await symlink('/etc/passwd', path.join(snapshots, 'passwd.json'));
    t.match(await restore({ manifest_path: 'passwd.json' }), { status: 400 });
    for (const path of ['/etc/x.json', '/usr/x.json', 'relative.json', `${snapshots}/x.txt`, ' '])
      t.match(
        await host.post('/process/symlink-manifest/backup', { backup_path: path, roots: [root] }),
        { status: 400 },
        path,
      );
  });

  t.test('a repair is undone, newest change first, whatever it was', async t => {
    const dir = linkDir(t, {
      from: {
        tv: { a: { to: '/old/a' }, s1: { b: { to: '../../../x' } } },
        kept: { c: { to: '/c' } },
        taken: { to: '/old/taken' },
      },
      to: { taken: { to: '/there/before' }, kept: {} },
    });
    const before = found(dir);
    for (const copies of [false, true]) {
      const backup = path.join(host.configDir, `symlink-repair/repair-manifests/undo-${copies}.json`);
      const body = {
        roots: [dir],
        rewrite_rules: [{ from_prefix: '/old', to_prefix: '/new' }],
        root_migrations: [{ from_root: path.join(dir, 'from'), to_root: path.join(dir, 'to') }],
        overwrite_existing: true,
        copy_instead_of_move: copies,
        dry_run: false,
        backup_path: backup,
      };
      t.match((await host.post('/process/symlink-repair', body)).body, { changed: 2, errors: [] });
      const manifest = { manifest_path: backup };
      const preview = (await restore(manifest)).body;
      t.match(preview, { manifest_type: 'symlink_repair', total_entries: 6, restored: 6, errors: [] });
      const done = (await restore({ ...manifest, dry_run: false })).body;
      t.match(done, { restored: 6, errors: [] }, JSON.stringify(done));
      t.equal(found(dir), before, 'also the directories that it made are gone, and no others');
    }
  });

  t.test('a root that is a link within another root is followed, as it was when links were found', async t => {
    const root = linkDir(t, { own: { to: '/old/1' }, elsewhere: { far: { to: '/old/2' } } });
    const library = path.join(root, 'library');
    await mkdir(library);
    await symlink(path.join(root, 'elsewhere'), path.join(library, 'shelf'));
    const roots = [library, path.join(library, 'shelf')];
    const backup = path.join(snapshots, 'nested.json');
    const saved = await host.post('/process/symlink-manifest/backup', { backup_path: backup, roots });
    t.match(saved.body, { recorded_entries: 2, errors: [] });
    await rm(path.join(root, 'elsewhere/far'));
    const restored = (await restore({ manifest_path: backup, dry_run: false })).body;
    t.match(restored, { restored: 1, skipped_unchanged: 1, errors: [] });
    t.equal(await readlink(path.join(root, 'elsewhere/far')), '/old/2');

    const undo = path.join(host.configDir, 'symlink-repair/repair-manifests/nested.json');
    const rewrite_rules = [{ from_prefix: '/old', to_prefix: '/new' }];
    const repair = { roots, rewrite_rules, dry_run: false, backup_path: undo };
    t.match((await host.post('/process/symlink-repair', repair)).body, { changed: 1, errors: [] });
    t.match((await restore({ manifest_path: undo, dry_run: false })).body, { restored: 1, errors: [] });
    t.equal(await readlink(path.join(root, 'elsewhere/far')), '/old/2');
  });

  t.test('directories that a move made stay while anything is in them, and go when the undo is repeated', async t => {
    const dir = linkDir(t, { from: { tv: { s1: { a: { to: '/a' } } } } });
    const before = found(dir);
    const backup = path.join(host.configDir, 'symlink-repair/repair-manifests/made.json');
    const roots = { from_root: path.join(dir, 'from'), to_root: path.join(dir, 'to/deep') };
    const body = { root_migrations: [roots], dry_run: false, backup_path: backup };
    t.match((await host.post('/process/symlink-repair', body)).body, { moved: 1, errors: [] });
    await writeFile(path.join(dir, 'to/deep/tv/own'), 'of the user');
    const undo = { manifest_path: backup, dry_run: false };
    t.match((await restore(undo)).body, { restored: 1, errors: [] });
    t.same(await readdir(path.join(dir, 'to/deep/tv')), ['own']);
    await rm(path.join(dir, 'to/deep/tv/own'));
    t.match((await restore(undo)).body, { skipped_unchanged: 1, errors: [] });
    t.equal(found(dir), before);
  });
});
