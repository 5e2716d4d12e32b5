// Scheduled snapshots by a real host: made once for missed times, repeated after failures; older ones are removed only
// when the new one can be trusted.
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import t, { type Test } from 'tap';
import { testDir } from '../../support/directory.ts';
import { startHost } from '../../support/host.ts';
import { mountLinks } from '../../support/link-mount.ts';
import { linkDir } from '../../support/links.ts';
import { ownLog } from '../../support/own-log.ts';
import { ROOT_ONLY } from '../../support/race.ts';
import { until } from '../../support/until.ts';

const DAY_S = 86_400;
const now = () => Math.floor(Date.now() / 1_000);
const NAMES = ['Decypharr', 'Riven Backend'] as const;
const ZONE = 'Europe/Berlin';
/** Hours away, so that it does not come while a test reads when it is due. */
const START = Number(new Date().toLocaleString('en-GB', { timeZone: ZONE, hour: '2-digit' })) < 12 ? '15:30' : '03:30';

/** Starts a host ten days after the last run of each process. Missed runs and repetitions come at once. */
async function start(t: Test, blocks: Record<string, object>, config: object = {}, record: object = {}) {
  const configDir = testDir(t, {});
  const state = path.join(configDir, 'symlink-repair');
  const snapshots = path.join(state, 'snapshots');
  await mkdir(snapshots, { recursive: true });
  const lastRun = {
    last_due: now() - 10 * DAY_S,
    last_run: now() - 10 * DAY_S,
    last_status: 'completed',
    message: 'done',
    last_backup_at: now() - 10 * DAY_S,
    last_manifest: null,
    scanned_symlinks: 1,
    recorded_entries: 1,
    pruned_backups: [],
    retention_errors: [],
    errors: 0,
    warning: null,
    retries: 0,
    retry_at: null,
    ...record,
  };
  const schedule = path.join(state, 'schedule.json');
  const known = JSON.stringify(Object.fromEntries(NAMES.map(name => [name, lastRun])));
  await writeFile(schedule, known);
  const plugins = ['symlinks', 'services', 'process', 'config'];
  const open = () => startHost({ plugins, configDir, pace: 0.001, config: { tz: ZONE, ...blocks, ...config } });
  let host = await open();
  t.teardown(() => host.stop());
  const status = async (name: string) =>
    (await host.get(`/process/symlink-backup-status?process_name=${encodeURIComponent(name)}`)).body
      .symlink_backup_status;
  return {
    snapshots,
    schedule,
    status,
    get: (url: string) => host.get(url),
    post: (url: string, body: object) => host.post(url, body),
    /** The status once a run has ended after `before`. */
    ended: (name: string) =>
      until(async () => {
        const found = await status(name);
        const record = JSON.parse(await readFile(schedule, 'utf8'))[name];
        return found.status !== 'running' && record.last_run > lastRun.last_run && record.retry_at === null
          ? found
          : undefined;
      }),
    async restart(meanwhile: () => Promise<void> = async () => undefined) {
      await host.stop();
      await meanwhile();
      host = await open();
    },
    log: () => ownLog(host),
    /** Puts the records back to what they were before the first run. */
    forget: () => writeFile(schedule, known),
    jobs: path.join(configDir, 'jobs', 'symlinks', 'reading'),
  };
}

const manifest = (count: number, header: object = {}) =>
  JSON.stringify({
    ...header,
    entries: Array.from({ length: count }, (_, at) => ({ link_path: `/r/${at}`, target: '/t' })),
  });

t.test('a missed snapshot is made once, and older ones of its schedule are removed', async t => {
  const root = linkDir(t, { a: { to: '/x' }, b: { to: '/y' }, c: { to: '/z' } });
  const block = { process_name: 'Decypharr', symlink_backup_enabled: true, symlink_backup_interval: 24 };
  const host = await start(t, {
    decypharr: { ...block, symlink_backup_roots: `${root}, ${root}`, symlink_backup_start_time: START },
  });
  const older = {
    'decypharr-20250101T040000Z.json': manifest(5),
    'decypharr-20250102T040000Z.json': manifest(2, { process_name: 'Decypharr' }),
    'decypharr-20250103T040000Z.json': manifest(2, { process_name: 'Another' }),
    'decypharr-2-20250103T040000Z.json': manifest(2),
    'decypharr-20250104T040000Z.json': 'no manifest',
    'decypharr-latest.json': manifest(2),
  };
  for (const [name, text] of Object.entries(older)) await writeFile(path.join(host.snapshots, name), text);
  const made = await host.ended('Decypharr');
  t.match(made, { status: 'completed', recorded_entries: 3, scanned_symlinks: 3, errors: 0, warning: null });
  t.ok(made.last_backup_at > now() - 600);
  t.match(path.basename(made.last_backup_manifest), /^decypharr-\d{8}T\d{6}Z\.json$/);
  t.equal(JSON.parse(await readFile(made.last_backup_manifest, 'utf8')).process_name, 'Decypharr');
  t.same(
    made.pruned_backups.map((file: string) => path.basename(file)),
    ['decypharr-20250102T040000Z.json', 'decypharr-20250101T040000Z.json'],
  );
  const left = [path.basename(made.last_backup_manifest), ...Object.keys(older).filter(name => !/0[12]T/.test(name))];
  t.same((await readdir(host.snapshots)).sort(), left.sort());

  const next = new Date(made.next_backup_at * 1_000);
  t.ok(next.getTime() > Date.now() && next.getTime() < Date.now() + 25 * 3_600_000);
  t.equal(next.toLocaleTimeString('en-GB', { timeZone: ZONE }), `${START}:00`);
  const job = (await host.get('/process/symlink-job-latest?process_name=decypharr&active_only=false')).body.job;
  t.match(job, { status: 'completed', operation: 'symlink_manifest_backup', process_name: 'Decypharr' });
  const listed = (await host.get('/process/symlink-backup-manifests?process_name=Decypharr')).body;
  t.match(listed, { count: 3, manifests: [{ path: made.last_backup_manifest }, Object, Object] });
  t.match(listed.pattern, /decypharr-\*\.json$/);
  t.match((await host.get('/process?process_name=Decypharr')).body.symlink_backup_status, { status: 'completed' });

  await host.restart();
  t.match(await host.status('Decypharr'), { last_backup_at: made.last_backup_at, next_backup_at: made.next_backup_at });
  t.equal((await readdir(host.snapshots)).length, 5, 'nothing was made again');
});

for (const moment of ['the end of its job', 'its manifest was in place'] as const) {
  t.test(`a run of a host that was killed after ${moment} is not made again`, async t => {
    const root = linkDir(t, { a: { to: '/x' }, b: { to: '/y' } });
    const block = { process_name: 'Decypharr', symlink_backup_enabled: true, symlink_backup_start_time: START };
    const host = await start(t, { decypharr: { ...block, symlink_backup_roots: [root], symlink_backup_interval: 24 } });
    const made = await host.ended('Decypharr');
    await host.restart(async () => {
      await host.forget();
      if (moment === 'the end of its job') return;
      for (const name of await readdir(host.jobs)) {
        const file = path.join(host.jobs, name);
        if (name.endsWith('.result.json')) await rm(file);
        else
          await writeFile(
            file,
            JSON.stringify({ ...JSON.parse(await readFile(file, 'utf8')), state: 'running', endedAt: null }),
          );
      }
    });
    const { last_backup_manifest, next_backup_at } = made;
    t.match(await host.ended('Decypharr'), {
      ...{ status: 'completed', last_backup_manifest, next_backup_at, recorded_entries: 2 },
      message: `2 links were saved to ${last_backup_manifest}`,
    });
    t.same(await readdir(host.snapshots), [path.basename(last_backup_manifest)], 'nothing was made again');
    // It is told once the record is on the disk, and shown before.
    const isTold = async () => /by an earlier run of Stackwarden, which did not/.test((await host.log()).join('\n'));
    await until(isTold, { what: 'the line in the log' });
  });
}

t.test('a clock that was ahead postpones nothing', async t => {
  const root = linkDir(t, { a: { to: '/x' } });
  const block = { process_name: 'Decypharr', symlink_backup_enabled: true, symlink_backup_roots: [root] };
  const ahead = now() + 3_650 * DAY_S;
  for (const interval of [24, 5, 168]) {
    const decypharr = { ...block, symlink_backup_interval: interval };
    const host = await start(t, { decypharr }, {}, { last_due: ahead, last_run: ahead, last_backup_at: ahead });
    const { next_backup_at: next } = await host.status('Decypharr');
    t.ok(next > now() && next < now() + 25 * 3_600, `every ${interval} hours, and not in ten years`);
  }
  const waits = { last_due: ahead, last_run: ahead, last_status: 'error', retry_at: ahead, retries: 0 };
  const host = await start(t, { decypharr: block }, {}, waits);
  const made = await until(async () => {
    const record = JSON.parse(await readFile(host.schedule, 'utf8')).Decypharr;
    const { status } = await host.status('Decypharr');
    return record.last_status === 'completed' && status !== 'running' ? record : undefined;
  });
  t.ok(made.last_run < ahead, 'a repetition comes in time');
  const { next_backup_at: next } = await host.status('Decypharr');
  t.ok(next > now() && next < now() + 25 * 3_600, 'and so does what follows it');
});

t.test('the status shows a run while it goes on', ROOT_ONLY, async t => {
  const { mount, end } = await mountLinks(t);
  const block = { process_name: 'Decypharr', symlink_backup_enabled: true };
  const host = await start(t, { decypharr: { ...block, symlink_backup_roots: [path.join(mount, 'hang')] } });
  const running = { status: 'running', message: /being written/, next_backup_at: Number, last_backup_at: Number };
  t.match(
    await until(async () =>
      (await host.status('Decypharr')).status === 'running' ? host.status('Decypharr') : undefined,
    ),
    running,
  );
  t.match(
    (await host.get('/process?process_name=Decypharr')).body.symlink_backup_status,
    running,
    'the process says so too',
  );
  const latest = async () => (await host.get('/process/symlink-job-latest?process_name=Decypharr')).body.job;
  t.match(await until(async () => ((await latest())?.progress == null ? undefined : latest())), {
    status: 'running',
    operation: 'symlink_manifest_backup',
    metadata: { roots: [path.join(mount, 'hang')] },
    progress: { stage: 'collecting' },
  });
  end();
  t.match(await host.ended('Decypharr'), { status: 'error', message: /hang/ });
  t.equal(await latest(), null, 'and nothing goes on');
});

t.test('older snapshots stay when roots of the new one were missing', async t => {
  const root = linkDir(t, { a: { to: '/x' } });
  const block = { process_name: 'Decypharr', symlink_backup_enabled: true };
  const host = await start(t, { decypharr: { ...block, symlink_backup_roots: [root, '/nowhere/at/all'] } });
  const kept = path.join(host.snapshots, 'decypharr-20250101T040000Z.json');
  await writeFile(kept, manifest(1));
  t.match(await host.ended('Decypharr'), { warning: /roots were missing/, pruned_backups: [] });
  t.ok(existsSync(kept));
});

t.test('a failed run is repeated twice, and writes nothing', async t => {
  const block = { process_name: 'Decypharr', symlink_backup_enabled: true, symlink_backup_interval: 0 };
  const host = await start(t, { decypharr: { ...block, symlink_backup_roots: ['/nowhere/at/all'] } });
  const failed = await host.ended('Decypharr');
  t.match(failed, { status: 'error', message: /No root is there/, symlink_backup_interval: 1 });
  t.ok(failed.next_backup_at > now());
  t.equal(JSON.parse(await readFile(host.schedule, 'utf8')).Decypharr.retries, 2);
  t.same(await readdir(host.snapshots), []);
});

t.test('schedules follow the configuration', async t => {
  const host = await start(t, { riven_backend: { process_name: 'Riven Backend', symlink_backup_path: '' } });
  t.match(await host.status('Riven Backend'), {
    status: 'disabled',
    next_backup_at: null,
    symlink_backup_enabled: false,
  });
  t.match((await host.status('Riven Backend')).symlink_backup_path, /snapshots\/riven-backend-\{timestamp\}\.json$/);
  const set = (updates: object) => host.post('/config', { process_name: 'Riven Backend', updates, persist: true });
  const reschedule = (name: string) => host.post('/process/symlink-backup/reschedule', { process_name: name });
  t.match(
    await set({ symlink_backup_enabled: true, symlink_backup_interval: 0, symlink_backup_retention_count: 2.7 }),
    { status: 200 },
  );
  t.match((await reschedule('Riven Backend')).body, {
    status: 'ok',
    message: /next snapshot is due at \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ\.$/,
  });
  const status = await host.status('Riven Backend');
  t.match(status, { status: 'scheduled', symlink_backup_interval: 1, symlink_backup_retention_count: 2 });
  t.ok(status.next_backup_at > now(), 'what was due while it was off is not made up for');
  await set({ symlink_backup_path: '/etc/x.json' });
  t.match((await reschedule('Riven Backend')).body, { status: 'error', message: /protected/ });
  await set({ symlink_backup_path: `/links/${'x'.repeat(245)}.json` });
  t.match((await reschedule('Riven Backend')).body, { status: 'error', message: /longer than/ });
  await set({ symlink_backup_path: '', symlink_backup_roots: ['mnt/library'] });
  t.match((await reschedule('Riven Backend')).body, { status: 'error', message: /^The root mnt\/library must be/ });
  await set({ symlink_backup_roots: '/mnt/library, /etc' });
  t.match(await host.status('Riven Backend'), { status: 'error', message: /^The root \/etc lies in a protected/ });
  const late = await set({ symlink_backup_start_time: '25:00' });
  t.match(late, { status: 400, body: { detail: /start_time: it must be a time of day .*, such as 04:00$/ } });
  await set({ symlink_backup_enabled: false });
  t.match((await reschedule('Riven Backend')).body, { status: 'ok' });
  t.match(await host.status('Riven Backend'), { status: 'disabled' });

  t.match((await reschedule('PostgreSQL')).body, { status: 'error' });
  t.match(await host.status('PostgreSQL'), { status: 'unsupported', symlink_backup_enabled: false });
  t.match(await reschedule(' '), { status: 400 });
  t.match(await reschedule('Nobody'), {
    status: 404,
    body: { detail: /^Process not found: 'Nobody' is no process_name/ },
  });
  t.match(await host.get('/process/symlink-backup-status?process_name=Nobody'), { status: 404 });
  t.match(await host.get('/process/symlink-backup-status'), { status: 422 });
  t.match(await host.get('/process/symlink-backup-manifests?process_name=Nobody'), { status: 404 });
  await rm(host.snapshots, { recursive: true });
  t.match(await host.get('/process/symlink-backup-manifests?process_name=Decypharr'), {
    status: 200,
    body: { count: 0 },
  });
});
