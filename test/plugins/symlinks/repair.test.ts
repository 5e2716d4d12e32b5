// Repairs of links by a real host: what is rewritten, moved and left alone, and what a dry run predicts.
import { spawnSync } from 'node:child_process';
import { chmod, chown, lchown, lstat, readFile, readlink, rm } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { endedJob, found, linkDir } from '../../support/links.ts';
import { startWithPlugins } from '../../support/own-plugins.ts';
import { ROOT_ONLY } from '../../support/race.ts';
import { until } from '../../support/until.ts';

const OLD = '/mnt/debrid/decypharr/realdebrid/__all__';
const NEW = '/mnt/debrid/decypharr/__all__';
/** A plugin that records events, and contributes a preset. */
const LISTENER = `
  const events = [];
  for (const type of ['symlink.job.succeeded', 'symlink.job.failed']) host.on(type, ({ data }) => { events.push({ type, ...data }) });
  host.contribute('symlink.preset', 'swap', { rules: [{ from_prefix: '/a/', to_prefix: '/b' }] });
  host.route({ method: 'GET', path: '/events', summary: 'Events', handle: () => events });
`;

t.test('repairs', async t => {
  const host = await startWithPlugins(
    t,
    { listener: LISTENER },
    { shipped: ['symlinks', 'services', 'service-decypharr'] },
  );
  const repair = (body: object) => host.post('/process/symlink-repair', body);

  t.test('a preset rewrites what fits, and a dry run says so before', async t => {
    const root = linkDir(t, {
      tv: { show: { 'e1.mkv': { to: `${OLD}/Show/e1.mkv` } } },
      movies: {
        'film.mkv': { to: '/elsewhere/film.mkv' },
        'other.mkv': { to: `${OLD}x/film.mkv` },
        'film.nfo': 'text',
      },
    });
    const link = path.join(root, 'tv/show/e1.mkv');
    const body = { presets: ['decypharr_beta_consolidated'], roots: [root] };
    const before = await repair(body);
    t.match(before, { status: 200, body: { dry_run: true, changed: 1, scanned_symlinks: 3, skipped_unchanged: 2 } });
    t.equal(await readlink(link), `${OLD}/Show/e1.mkv`);
    const backup = path.join(host.configDir, 'symlink-repair/repair-manifests/one.json');
    const given = '/config/symlink-repair/repair-manifests/one.json';
    const done = await repair({ ...body, dry_run: false, backup_path: given });
    t.match(
      done,
      { status: 200, body: { dry_run: false, changed: 1, backup_manifest: backup, errors: [] } },
      done.text,
    );
    t.same(done.body.changes, before.body.changes);
    t.equal(await readlink(link), `${NEW}/Show/e1.mkv`);
    t.match(JSON.parse(await readFile(backup, 'utf8')), {
      manifest_type: 'symlink_repair',
      created_at: /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/,
      changes: [{ link_path: link, old_target: `${OLD}/Show/e1.mkv`, new_target: `${NEW}/Show/e1.mkv` }],
      entries: [{ link_path: link, target: `${OLD}/Show/e1.mkv` }],
    });
    const again = await repair({ ...body, dry_run: false });
    t.match(again.body, { changed: 0, skipped_unchanged: 3, backup_manifest: null });
  });

  t.test('an impossible target is an error in a dry run as well as in the run', async t => {
    const root = linkDir(t, { a: { to: '/a' }, b: { to: '/a/b' } });
    const before = found(root);
    // With the rest of its path, one target has exactly the greatest possible length.
    const body = { roots: [root], rewrite_rules: [{ from_prefix: '/a', to_prefix: `/${'é'.repeat(2_047)}` }] };
    const error = [{ link_path: path.join(root, 'b'), error: 'its target would be longer than 4095 bytes' }];
    t.match((await repair(body)).body, { changed: 1, errors_total: 1, errors: error });
    t.equal(found(root), before);
    t.match((await repair({ ...body, dry_run: false })).body, { changed: 1, errors_total: 1, errors: error });
  });

  t.test('a move takes links to another root, with the directories they need', async t => {
    const dir = linkDir(t, { from: { tv: { b: { to: '../../film' } } }, to: {}, film: 'x' });
    const before = found(dir);
    const roots = [{ from_root: path.join(dir, 'from'), to_root: path.join(dir, 'to/deep') }];
    t.match((await repair({ root_migrations: roots })).body, { moved: 1, moves_total: 1 });
    t.equal(found(dir), before);
    const done = await repair({ root_migrations: roots, dry_run: false });
    t.match(done.body, { moved: 1, copied: 0, scanned_symlinks: 1, errors: [] }, done.text);
    t.equal(await readlink(path.join(dir, 'to/deep/tv/b')), '../../../film');
    t.equal(await readFile(path.join(dir, 'to/deep/tv/b'), 'utf8'), 'x');
    await t.rejects(lstat(path.join(dir, 'from/tv/b')));
  });

  t.test(
    'links keep their owner and group, and directories of a move get those of their source',
    ROOT_ONLY,
    async t => {
      const dir = linkDir(t, { from: { tv: { a: { to: '/a/x' } } }, other: {} });
      const tv = path.join(dir, 'from/tv');
      await lchown(path.join(tv, 'a'), 1_234, 2_345);
      await chown(tv, 1_235, 2_346);
      await chmod(tv, 0o2751);
      spawnSync('mount', ['-t', 'tmpfs', 'none', path.join(dir, 'other')]);
      t.teardown(() => spawnSync('umount', ['-l', path.join(dir, 'other')]));
      const ownerOf = async (place: string) => {
        const { uid, gid, mode } = await lstat(path.join(dir, place));
        return { uid, gid, mode: mode & 0o7777 };
      };
      t.match((await repair({ presets: ['swap'], roots: [dir], dry_run: false })).body, { changed: 1, errors: [] });
      t.match(await ownerOf('from/tv/a'), { uid: 1_234, gid: 2_345 });
      for (const to of ['to', 'other/to']) {
        const roots = { from_root: path.join(dir, 'from'), to_root: path.join(dir, to) };
        const copied = await repair({ root_migrations: [roots], copy_instead_of_move: true, dry_run: false });
        t.match(copied.body, { copied: 1, errors: [] }, copied.text);
        t.match(await ownerOf(`${to}/tv/a`), { uid: 1_234, gid: 2_345 });
        t.same(await ownerOf(`${to}/tv`), { uid: 1_235, gid: 2_346, mode: 0o2751 });
      }
      const snapshot = path.join(host.configDir, 'symlink-repair/snapshots/owners.json');
      await host.post('/process/symlink-manifest/backup', { backup_path: snapshot, roots: [path.join(dir, 'from')] });
      await rm(path.join(tv, 'a'));
      const restored = await host.post('/process/symlink-manifest/restore', {
        manifest_path: snapshot,
        dry_run: false,
      });
      t.match(restored.body, { restored: 1, errors: [] });
      t.match(
        await ownerOf('from/tv/a'),
        { uid: 1_235, gid: 2_346 },
        'a link that was gone gets those of its directory',
      );
    },
  );

  t.test('a move that is undone leaves links their owner and group', ROOT_ONLY, async t => {
    const dir = linkDir(t, { from: { a: { to: '/a/x' }, b: { to: '../film' } }, to: { a: { to: '/old' } } });
    const links = ['from/a', 'from/b'].map(link => path.join(dir, link));
    for (const link of links) await lchown(link, 1_234, 2_345);
    const undo = path.join(host.configDir, 'symlink-repair/repair-manifests/moved-back.json');
    const roots = [{ from_root: path.join(dir, 'from'), to_root: path.join(dir, 'to') }];
    const body = { root_migrations: roots, overwrite_existing: true, backup_path: undo, dry_run: false };
    t.match((await repair(body)).body, { moved: 2, errors: [] });
    const undone = await host.post('/process/symlink-manifest/restore', { manifest_path: undo, dry_run: false });
    t.match(undone.body, { restored: 2, errors: [] }, undone.text);
    t.equal(await readlink(path.join(dir, 'to/a')), '/old');
    for (const link of links) t.match(await lstat(link), { uid: 1_234, gid: 2_345 }, link);
  });

  t.test('a rewritten link can be replaced by a moved one', async t => {
    const dir = linkDir(t, { from: { x: { to: '/c' } }, to: { x: { to: '/a/x' } } });
    const roots = [{ from_root: path.join(dir, 'from'), to_root: path.join(dir, 'to') }];
    const body = { presets: ['swap'], roots: [path.join(dir, 'to')], root_migrations: roots, overwrite_existing: true };
    const said = await repair(body);
    t.match(said.body, { changed: 1, moved: 1, moves: [{ replaced_target: '/b/x' }] }, said.text);
    const done = await repair({ ...body, dry_run: false });
    t.match(done.body, { changed: 1, moved: 1, skipped_changed_during_run: 0, moves: said.body.moves }, done.text);
    t.equal(await readlink(path.join(dir, 'to/x')), '/c');
  });

  t.test('a job reports its progress and its result', async t => {
    const root = linkDir(t, { x: { to: '/a/x' } });
    const body = { process_name: 'My Show', presets: ['swap'], roots: [root], dry_run: false };
    const queued = await host.post('/process/symlink-repair-async', body);
    t.match(queued, { status: 200, body: { status: 'queued', operation: 'symlink_repair' } }, queued.text);
    t.match(queued.body.job_id, /^[0-9a-f]{32}$/);
    const job = await endedJob(host, queued.body.job_id);
    t.match(job, { status: 'completed', process_name: 'My Show', result: { changed: 1 }, error: null });
    t.equal(await readlink(path.join(root, 'x')), '/b/x');
    const latest = '/process/symlink-job-latest?process_name=myshow';
    const all = await host.get(`${latest}&operation=symlink_repair&active_only=false`);
    t.equal(all.body.job?.job_id, queued.body.job_id);
    t.same((await host.get(latest)).body, { job: null });
    const events = await until(async () => {
      const told = await host.get('/events');
      return told.body.length > 0 ? told : undefined;
    });
    const told = { processName: 'My Show', jobId: queued.body.job_id, operation: 'symlink_repair', isScheduled: false };
    t.match(events.body, [{ type: 'symlink.job.succeeded', ...told }]);
    t.equal(events.body.length, 1, 'calls that wait for their result tell nobody');
  });
});
