// The record of a job: `job` is what clients see, `work` what only the migration itself needs. Neither holds a password
// or a value of a row.
import { randomBytes } from 'node:crypto';
import { z } from 'zod';

const ACTIVE = ['queued', 'running', 'finalizing', 'rolling_back'] as const;
const ENDED = ['completed', 'failed_rolled_back', 'failed', 'interrupted', 'rolled_back', 'rollback_failed'] as const;

/** The steps of a cutover in their order. Each is recorded on disk once its work is done. */
export const CHECKPOINTS = [
  'schema_ready',
  'service_stopped',
  'cold_backup_verified',
  'import_validated',
  'target_promoted',
  'app_config_written',
  'service_config_saved',
  'service_started',
  'healthy',
] as const;
export type Checkpoint = (typeof CHECKPOINTS)[number];

const progress = z.lazy(() =>
  z.object({
    at: z.int().describe('Unix seconds'),
    stage: z.string(),
    message: z.string(),
    percent: z.number(),
    details: z.record(z.string(), z.unknown()).optional(),
  }),
);

const imported = z.lazy(() =>
  z.object({
    database: z.string(),
    tables: z.int(),
    rows: z.int(),
    sequences_reset: z.int(),
    sequences_validated: z.int(),
    foreign_keys_validated: z.int(),
    primary_key_digests_validated: z.int(),
    full_row_digests_validated: z.int(),
    row_counts: z.record(z.string(), z.int()),
    validated: z.boolean(),
  }),
);

const result = z.lazy(() =>
  z.object({
    mode: z.string(),
    validated: z.boolean(),
    imports: z.record(z.string(), imported),
    key_row_counts: z.record(z.string(), z.int()),
    cutover_performed: z.boolean(),
    sqlite_runtime_restored: z.boolean(),
    postgres_databases: z.array(z.string()).optional(),
    sqlite_backups: z.record(z.string(), z.string()).optional(),
    preserved_databases: z.array(z.string()).describe('earlier target databases that were set aside'),
    sanitized: z.array(z.object({ table: z.string(), column: z.string(), rule: z.string(), rows: z.int() })),
    warnings: z.array(z.string()),
    timings: z.record(z.string(), z.number()).describe('seconds'),
    recovered_after_restart: z.boolean().optional(),
  }),
);
export type JobResult = z.output<typeof result>;

const failure = z.lazy(() =>
  z.object({
    message: z.string(),
    code: z.string(),
    stage: z.string(),
    table: z.string().optional(),
    column: z.string().optional(),
  }),
);
export type JobFailure = z.output<typeof failure>;

export const jobSchema = z.lazy(() =>
  z.object({
    job_id: z.string().regex(/^[0-9a-f]{32}$/),
    process_name: z.string(),
    service_key: z.string(),
    instance_name: z.string().nullable(),
    mode: z.enum(['rehearsal', 'cutover']),
    include_logs: z.boolean(),
    status: z.enum([...ACTIVE, ...ENDED]),
    created_at: z.int().describe('Unix seconds'),
    updated_at: z.int(),
    started_at: z.int().optional(),
    finished_at: z.int().optional(),
    progress: progress.nullable(),
    events: z.array(progress).describe('oldest first'),
    result: result.nullable(),
    error: failure.nullable(),
    rollback: z.record(z.string(), z.unknown()).nullable(),
    rollback_available: z.boolean(),
    rollback_checkpoint: z.enum(CHECKPOINTS).nullable(),
    backup_dir: z.string().nullable(),
    app_config_backup: z.string().nullable(),
    was_running: z.boolean(),
    preflight: z.record(z.string(), z.unknown()),
    binding: z.record(z.string(), z.unknown()).describe('what was to be moved where'),
    rehearsal_job_id: z.string().nullable(),
  }),
);
export type MigrationJob = z.output<typeof jobSchema>;

const serverDatabase = z.object({ oid: z.int(), name: z.string() });

/** What the migration needs to know after a restart of the host. */
const workSchema = z.lazy(() =>
  z.object({
    /** One for each database that is moved. `target` is its final name. */
    databases: z.array(
      z.object({
        label: z.string(),
        target: z.string(),
        staging: z.string(),
        /** OID of the database, which stays under every name; null until the database was made. */
        stagingOid: z.int().nullable(),
        /** The database that had the final name before, with the name it was given then; null when there was none. */
        previous: serverDatabase.extend({ isEmpty: z.boolean() }).nullable(),
      }),
    ),
    /**
     * Whether databases that the job has made are still to be dropped, and renamed ones to get their names back. True in
     * a job under way once it is taken back.
     */
    isUndoDue: z.boolean(),
    /** Databases that an ended cutover has set aside. They are kept until a later cutover has succeeded. */
    preserved: z.array(serverDatabase),
    helper: z.object({ pid: z.int(), startTime: z.number(), bootId: z.string() }).nullable(),
    /** Options of the block as the configuration file held them before; null for those that it did not hold. */
    options: z.record(z.string(), z.unknown()),
    /** Databases that the cutover has added to the list in the server's block. */
    registered: z.array(z.string()),
    /** Those of them that were on the list before, disabled. */
    disabled: z.array(z.string()).default([]),
    /** Files of the backup. `source` is where the original is. */
    backup: z.array(
      z.object({
        name: z.string(),
        source: z.string(),
        sha256: z.string(),
        bytes: z.int(),
        uid: z.int(),
        gid: z.int(),
        mode: z.int(),
      }),
    ),
    /** The result so far; null until the import was validated. */
    outcome: result.nullable(),
    /** Milliseconds since the epoch at which the service was stopped. */
    stoppedAtMs: z.number().nullable(),
  }),
);
export type JobWork = z.output<typeof workSchema>;

export const recordSchema = z.object({
  job: jobSchema,
  work: workSchema,
  /** Its place among all jobs by their last change. Absent in records of earlier versions. */
  sequence: z.int().optional(),
});
export type JobRecord = z.output<typeof recordSchema>;

export type JobIdentity = Pick<
  MigrationJob,
  'process_name' | 'service_key' | 'instance_name' | 'mode' | 'include_logs' | 'preflight' | 'binding' | 'was_running'
>;

/** The record of a new job, which is queued. */
export function newRecord(
  identity: JobIdentity,
  databases: readonly Pick<JobWork['databases'][number], 'label' | 'target'>[],
): JobRecord {
  const id = randomBytes(16).toString('hex');
  const now = unixSeconds();
  return {
    job: {
      job_id: id,
      ...identity,
      status: 'queued',
      created_at: now,
      updated_at: now,
      progress: null,
      events: [],
      result: null,
      error: null,
      rollback: null,
      rollback_available: false,
      rollback_checkpoint: null,
      backup_dir: null,
      app_config_backup: null,
      rehearsal_job_id: null,
    },
    work: {
      databases: databases.map(({ label, target }) => ({
        label,
        target,
        staging: `stage_${identity.service_key}_${id.slice(0, 8)}_${label}`,
        stagingOid: null,
        previous: null,
      })),
      isUndoDue: false,
      preserved: [],
      helper: null,
      options: {},
      registered: [],
      disabled: [],
      backup: [],
      outcome: null,
      stoppedAtMs: null,
    },
  };
}

export function isActive({ status }: MigrationJob): boolean {
  return (ACTIVE as readonly string[]).includes(status);
}

/** Whether the step, or a later one, was done. */
export function hasReached({ rollback_checkpoint: at }: MigrationJob, checkpoint: Checkpoint): boolean {
  return at !== null && CHECKPOINTS.indexOf(at) >= CHECKPOINTS.indexOf(checkpoint);
}

export function unixSeconds(): number {
  return Math.floor(Date.now() / 1_000);
}
