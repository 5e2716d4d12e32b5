// The schemas of the requests and answers of the routes.
import { z } from 'zod';
import { jobSchema } from './job.ts';

const checkSchema = z.lazy(() =>
  z.looseObject({
    id: z.string(),
    status: z.enum(['pass', 'warn', 'fail']),
    message: z.string(),
  }),
);
export type Check = z.output<typeof checkSchema>;

export const reportSchema = z.lazy(() =>
  z.object({
    process_name: z.string(),
    service_key: z.string(),
    instance_name: z.string().nullable(),
    supported: z.literal(true),
    ready: z.boolean().describe('no check failed'),
    running: z.boolean().nullable(),
    postgres_enabled: z.boolean(),
    service_version: z.string().nullable(),
    service_source_commit: z.null(),
    source_schema_fingerprint: z.string().nullable(),
    sqlite: z.record(
      z.string(),
      z.object({
        path: z.string(),
        exists: z.boolean(),
        bytes: z.int().nullable(),
        display_size: z.string().nullable(),
        quick_check: z.string().nullable(),
        foreign_key_violations: z.int().nullable(),
      }),
    ),
    postgres: z.object({
      enabled: z.boolean(),
      main_database: z.string(),
      log_database: z.string().nullable(),
      target_fingerprint: z.string().nullable(),
      role: z.object({ superuser: z.boolean(), createdb: z.boolean() }).nullable(),
      server_version: z.string().nullable(),
      encoding: z.string().nullable(),
      targets: z.record(
        z.string(),
        z.object({ name: z.string(), exists: z.boolean(), table_count: z.int(), row_count: z.int() }),
      ),
    }),
    checks: z.array(checkSchema),
    failure_count: z.int(),
    warning_count: z.int(),
    confirmation_text: z.string(),
    migration_notice: z.string(),
    rehearsal_required: z.boolean(),
    supports_log_migration: z.boolean(),
    preserved_sqlite_stores: z.array(z.string()),
    backup_root: z.string(),
    estimate: z.object({ rows: z.int(), seconds: z.number() }).nullable().describe('from the last rehearsal'),
  }),
);
export type Report = z.output<typeof reportSchema>;

const name = z.string().min(1);

export const processQuery = z.object({ process_name: name });
export const statusQuery = z.object({ job_id: name, process_name: z.string().optional() });
export const startBody = z.lazy(() =>
  z.strictObject({
    process_name: name,
    mode: z.string().default('rehearsal').describe('rehearsal or cutover'),
    include_logs: z.boolean().default(false),
    confirmation: z.string(),
    acknowledge_unsupported: z.boolean().default(false),
    acknowledge_backup: z.boolean().default(false),
    acknowledge_target_reset: z.boolean().default(false),
  }),
);
export type StartBody = z.output<typeof startBody>;
export const startAnswer = z.lazy(() =>
  z.object({
    status: z.literal('queued'),
    job_id: z.string(),
    process_name: z.string(),
    mode: z.enum(['rehearsal', 'cutover']),
  }),
);
export const rollbackBody = z.strictObject({ job_id: name, confirmation: z.string() });
export const latestAnswer = z.object({ job: jobSchema.nullable() });
