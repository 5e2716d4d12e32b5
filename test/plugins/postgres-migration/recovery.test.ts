// A migration that was interrupted and could not be undone at the start of the host: because of a full disk, where the
// next start of the service undoes it, or because its service was taken out of the configuration meanwhile.
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import t from 'tap';
import { type JobRecord, newRecord } from '../../../plugins/postgres-migration/job.ts';
import { Recovery } from '../../../plugins/postgres-migration/recovery.ts';
import { startHost } from '../../support/host.ts';
import { identityOf, PLUGINS, PREFIX } from '../../support/postgres-migration.ts';
import { until } from '../../support/until.ts';

const NAME = 'Sonarr';
const IDENTITY = identityOf('cutover');

/** A recovery of a job that was promoted, with the changes of the configuration and the saves that it makes. */
function recoveryOf(record: JobRecord, all: readonly JobRecord[] = [record], settledMs: number | null = null) {
  const disk = { isFull: false };
  const need = (): void => {
    if (disk.isFull) throw new Error('no space left on device');
  };
  const [updates, kept]: [unknown[], JobRecord[]] = [[], []];
  const update = async (change: unknown) => {
    need();
    updates.push(change);
  };
  const log = { warn() {}, error() {} };
  const context = {
    host: {
      name: 'test',
      signal: new AbortController().signal,
      use: () => ({ update, state: 'invalid', settledMs }),
      emit() {},
      log,
    },
    guard: { changing: (_name: string, _keys: unknown, change: () => Promise<unknown>) => change() },
    server: { managed: { place: () => undefined } },
    places: { leftWork: async () => [], removeWork: async () => undefined, removeBackup: async () => undefined },
    files: {
      list: () => all,
      show() {},
      async save(saved: JobRecord) {
        need();
        kept.push(saved);
      },
    },
  };
  const starts: string[] = [];
  const held = {
    snapshot: () => ({ pid: null, stoppedByUser: false }),
    start: async () => void starts.push(record.job.process_name),
  };
  const migrations = {
    subject: () => ({ processName: NAME, switchedFile: undefined }),
    resume: (_subject: unknown, _record: unknown, goOn: (...given: unknown[]) => unknown) => goOn(undefined, held),
  };
  const parts = { migrations, leftovers: { clear: async () => undefined } };
  const recovery = new Recovery(context as never, parts as never, [record]);
  return { recovery, disk, updates, kept, starts };
}

function promoted(sequence: number): JobRecord {
  const { job, work } = newRecord(IDENTITY, []);
  return { job: { ...job, status: 'running', rollback_checkpoint: 'target_promoted' }, work, sequence };
}

t.test('the next start of the service undoes the migration once', async t => {
  const { recovery, disk, updates, kept } = recoveryOf(promoted(1));
  disk.isFull = true;
  await t.rejects(recovery.beforeStart(NAME), /no space/);
  await recovery.run();
  t.same([updates, kept], [[], []]);
  disk.isFull = false;
  for (let starts = 0; starts < 2; starts += 1) await recovery.beforeStart(NAME);
  t.match(updates, [{ processName: NAME, updates: { postgres_enabled: false } }]);
  t.equal(updates.length, 1);
  t.match(kept.at(-1), { job: { status: 'failed_rolled_back' }, work: { isUndoDue: true } });
});

t.test('a migration whose end is not on disk undoes no later one', async t => {
  const [record, later] = [promoted(1), promoted(2)];
  const { recovery, updates, kept } = recoveryOf(record, [later, record]);
  await recovery.beforeStart(NAME);
  await recovery.run();
  await recovery.beforeStart(NAME);
  t.same(updates, []);
  t.match(kept.at(-1)?.job, {
    job_id: record.job.job_id,
    status: 'interrupted',
    error: { message: /nothing was touched/ },
  });
});

t.test('a service that was stopped for a migration is started when no boot will do so', async t => {
  for (const settledMs of [null, 1]) {
    const { job, work } = newRecord(IDENTITY, []);
    const at = { status: 'running', rollback_checkpoint: 'service_stopped' } as const;
    const record = { job: { ...job, ...at }, work: { ...work, stoppedAtMs: 1 } };
    const { recovery, kept, starts } = recoveryOf(record, [record], settledMs);
    await recovery.run();
    t.same(starts, settledMs === null ? [] : [NAME], `the boot was over at ${settledMs}`);
    t.match(kept.at(-1)?.job, { status: 'interrupted' });
  }
});

t.test('a service that was taken out of the configuration', async t => {
  const configDir = await mkdtemp(path.join(tmpdir(), 'stackwarden-test-'));
  t.teardown(() => rm(configDir, { recursive: true, force: true }));
  const root = path.join(configDir, 'arr-postgres-migration');
  const [jobs, backup] = [path.join(root, 'jobs'), path.join(root, 'backups', 'sonarr', 'one')];
  for (const directory of [jobs, backup]) await mkdir(directory, { recursive: true, mode: 0o700 });
  const text = '<Config/>';
  await writeFile(path.join(backup, 'config.xml'), text, { mode: 0o600 });
  const sha256 = createHash('sha256').update(text).digest('hex');
  const source = path.join(configDir, 'config.xml');
  const file = { name: 'config.xml', source, sha256, bytes: text.length, uid: 0, gid: 0, mode: 0o600 };
  const left = [
    { status: 'running', rollback_checkpoint: 'cold_backup_verified', isUndoDue: true },
    { status: 'running', rollback_checkpoint: 'target_promoted', isUndoDue: false },
    { status: 'running', rollback_checkpoint: 'service_started', isUndoDue: false },
    { status: 'rolling_back', rollback_checkpoint: 'healthy', isUndoDue: false },
  ] as const;
  const previous = { oid: 20_001, name: 'prev_sonarr_0_main' };
  const databases = [
    { label: 'main', target: 'sonarr-main', staging: 's', stagingOid: 1, previous: { ...previous, isEmpty: false } },
  ];
  const ids: string[] = [];
  for (const { status, rollback_checkpoint } of left) {
    const { job, work } = newRecord(IDENTITY, []);
    const own = { ...job, status, rollback_checkpoint, backup_dir: backup, rollback_available: true };
    const record = { job: own, work: { ...work, databases, backup: [file] } };
    await writeFile(path.join(jobs, `${job.job_id}.json`), JSON.stringify(record), { mode: 0o600 });
    ids.push(job.job_id);
  }
  const other = { enabled: false, process_name: NAME, command: ['true'] };
  const app = await startHost({ plugins: PLUGINS, configDir, config: { another: other } });
  t.teardown(() => app.stop());
  for (const id of ids) {
    const job = await until(
      async () => {
        const { body } = await app.get(`${PREFIX}/status?job_id=${id}`);
        return body.status === 'interrupted' && body;
      },
      { what: 'the end of the job' },
    );
    t.match(job, {
      rollback_available: true,
      error: { message: /nothing was touched; its backup is .*\/sonarr\/one,/ },
    });
  }
  const works = await until(
    async () => {
      const texts = await Promise.all(ids.map(id => readFile(path.join(jobs, `${id}.json`), 'utf8')));
      const records: JobRecord[] = texts.map(text => JSON.parse(text));
      return records.every(({ job }) => job.status === 'interrupted') ? records.map(({ work }) => work) : undefined;
    },
    { what: 'the end of the jobs on disk' },
  );
  t.same(
    works.map(({ isUndoDue, preserved }) => ({ isUndoDue, preserved })),
    left.map(({ isUndoDue }) => ({ isUndoDue, preserved: isUndoDue ? [] : [previous] })),
    'what a promotion has set aside is known to later ones',
  );
});
