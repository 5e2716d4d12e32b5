// The calls that the web frontend makes for a service, in order: the load of the page, then its four tabs.
import { readlink } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { startHost } from '../../support/host.ts';
import { endedJob, found, linkDir } from '../../support/links.ts';

const FLAGS = [
  'symlink_repair',
  'symlink_repair_async',
  'symlink_manifest_backup',
  'symlink_manifest_backup_async',
  'symlink_job_status',
  'symlink_job_latest',
  'symlink_manifest_restore',
  'symlink_manifest_restore_async',
  'symlink_manifest_compare',
  'symlink_backup_schedule',
  'symlink_backup_manifest_list',
  'symlink_manifest_file_list',
];
const NAME = 'process_name=Riven+Backend';
const OPERATIONS = ['symlink_repair', 'symlink_manifest_backup', 'symlink_manifest_restore'];

t.test('the calls of the four tabs are answered', async t => {
  const host = await startHost({
    plugins: ['symlinks', 'services', 'process', 'config', 'service-decypharr'],
    config: { riven_backend: { process_name: 'Riven Backend' } },
  });
  t.teardown(() => host.stop());
  const root = linkDir(t, {
    shows: { a: { to: '/mnt/debrid/decypharr/realdebrid/__all__/a' }, b: { to: '/elsewhere' } },
  });
  const before = found(root);
  const get = async (url: string) => {
    const answer = await host.get(`/process/${url}`);
    t.equal(answer.status, 200, url);
    return answer.body;
  };
  const post = async (url: string, body: object) => {
    const answer = await host.post(url, body);
    t.equal(answer.status, 200, `${url} ${answer.text}`);
    return answer.body;
  };
  const job = async (url: string, body: object) => {
    const { job_id: id, status } = await post(`/process/${url}`, body);
    t.equal(status, 'queued');
    const latest = (await get(`symlink-job-latest?${NAME}&operation=&active_only=false`)).job;
    t.equal(latest.job_id, id);
    const ended = await endedJob(host, id);
    t.match(ended, { status: 'completed', error: null, process_name: 'Riven Backend' });
    return ended;
  };
  const snapshots = '/config/symlink-repair/snapshots';
  const latest = encodeURIComponent(`${snapshots}/latest.json`);

  const flags = await get('capabilities');
  for (const flag of FLAGS) t.equal(flags[flag], true, flag);
  t.match(await get(`symlink-backup-status?${NAME}`), { symlink_backup_status: { status: 'disabled' } });
  t.match(await get(`symlink-backup-manifests?${NAME}`), { manifests: [], count: 0 });
  const empty = await get(`symlink-manifest-files?manifest_path=${latest}`);
  t.match(empty, { directory: path.join(host.configDir, 'symlink-repair/snapshots'), files: [], count: 0 });
  for (const operation of OPERATIONS)
    t.same(await get(`symlink-job-latest?${NAME}&operation=${operation}&active_only=true`), { job: null });

  const rules = {
    process_name: 'Riven Backend',
    include_broken: true,
    roots: [root],
    presets: ['decypharr_beta_consolidated'],
  };
  t.match(await post('/process/symlink-repair', { ...rules, dry_run: true }), {
    changed: 1,
    scanned_symlinks: 2,
    errors: [],
  });
  const undo = '/config/symlink-repair/repair-manifests/riven-backend-20250101.json';
  const applied = await job('symlink-repair-async', { ...rules, dry_run: false, backup_path: undo });
  t.match(applied, {
    result: { changed: 1, moved: 0, copied: 0 },
    progress: { processed_items: 1, total_items: 1, changed: 1 },
  });
  t.equal(await readlink(path.join(root, 'shows/a')), '/mnt/debrid/decypharr/__all__/a');

  const backup = {
    process_name: 'Riven Backend',
    backup_path: `${snapshots}/riven.json`,
    include_broken: true,
    roots: [root],
  };
  const saved = await job('symlink-manifest/backup-async', backup);
  t.match(saved, {
    result: { recorded_entries: 2 },
    progress: { stage: 'completed', processed_symlinks: 2, total_symlinks: 2 },
  });
  const failing = await post('/process/symlink-manifest/backup-async', { ...backup, roots: [path.join(root, 'no')] });
  t.match(
    await endedJob(host, failing.job_id),
    {
      error: { message: /No root is there/ },
      progress: { stage: 'collecting', processed_symlinks: 0, total_symlinks: null, recorded_entries: 0, errors: 0 },
    },
    'a job that fails at once has told of every counter',
  );
  const { files } = await get(`symlink-manifest-files?manifest_path=${latest}`);
  t.match(files, [{ path: path.join(host.configDir, 'symlink-repair/snapshots/riven.json'), name: 'riven.json' }]);
  await get(`symlink-backup-manifests?${NAME}`);

  const query = `overwrite_existing=true&restore_broken=true&sample_limit=50`;
  const compared = await get(`symlink-manifest/compare?manifest_path=${encodeURIComponent(undo)}&${query}`);
  t.match(compared, {
    projected_restored: 1,
    total_entries: 1,
    sample_limit: 50,
    sample_changes: [{ action: 'overwrite', link_path: path.join(root, 'shows/a') }],
  });
  const restore = {
    process_name: 'Riven Backend',
    manifest_path: undo,
    overwrite_existing: true,
    restore_broken: true,
  };
  t.match(await job('symlink-manifest/restore-async', { ...restore, dry_run: true }), {
    result: { restored: 1, dry_run: true },
  });
  const restored = await job('symlink-manifest/restore-async', { ...restore, dry_run: false });
  t.match(restored, { result: { restored: 1, dry_run: false }, progress: { processed_items: 1, total_items: 1 } });
  t.equal(found(root), before);

  const { config } = await get(`?${NAME}`);
  const block = {
    ...config,
    symlink_backup_enabled: true,
    symlink_backup_interval: 0,
    symlink_backup_start_time: '05:15',
    symlink_backup_path: `${snapshots}/riven-backend-{timestamp}.json`,
    symlink_backup_include_broken: true,
    symlink_backup_roots: [],
    symlink_backup_retention_count: 3,
  };
  await post('/config', { process_name: 'Riven Backend', updates: block, persist: true });
  t.match(await post('/process/symlink-backup/reschedule', { process_name: 'Riven Backend' }), { status: 'ok' });
  const detail = (await get(`?${NAME}`)).symlink_backup_status;
  const status = (await get(`symlink-backup-status?${NAME}`)).symlink_backup_status;
  t.match(status, { ...detail, checked_at: Number });
  t.match(status, { status: 'scheduled', last_backup_at: null, symlink_backup_retention_count: 3 });
  t.ok(status.next_backup_at > Date.now() / 1_000);
  t.match(status.symlink_backup_roots, ['/mnt/debrid/decypharr_symlinks']);
  await get(`symlink-backup-manifests?${NAME}`);
});
