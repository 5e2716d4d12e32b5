// The records of the scheduled backups of processes, kept on the disk, so that they survive restarts and changes of the
// schedule.
import { z } from 'zod';
import type { Host } from '#core';
import { writeFileAtomic } from '#kit/atomic-write';
import { GuardedDirectory } from '#kit/guarded-directory';
import { LaterWrite } from '#kit/later-write';
import { type Places, scheduleFile } from '../places/path-rules.ts';

const FILE_MODE = 0o600;
const DIRECTORY_MODE = 0o750;
const MAX_BYTES = 1 << 20;

const unixSeconds = z.int();

const recordSchema = z.lazy(() =>
  z.object({
    /** When the last run was due, which may be earlier than it began. */
    last_due: unixSeconds,
    /** When the last run ended. */
    last_run: unixSeconds,
    last_status: z.enum(['completed', 'error']),
    message: z.string(),
    /** When a run last succeeded; null when none has. */
    last_backup_at: unixSeconds.nullable(),
    last_manifest: z.string().nullable(),
    scanned_symlinks: z.int().nullable(),
    recorded_entries: z.int().nullable(),
    pruned_backups: z.array(z.string()),
    retention_errors: z.array(z.string()),
    errors: z.int(),
    warning: z.string().nullable(),
    /** How often the last run was repeated after a failure; `retry_at` is when it will be again, or null. */
    retries: z.int(),
    retry_at: unixSeconds.nullable(),
  }),
);

export type ScheduleRecord = z.output<typeof recordSchema>;

export class ScheduleState {
  readonly #records: Map<string, ScheduleRecord>;
  readonly #writes: LaterWrite;

  private constructor(host: Host, file: string, records: Map<string, ScheduleRecord>) {
    this.#records = records;
    this.#writes = new LaterWrite({
      async write() {
        const text = `${JSON.stringify(Object.fromEntries(records), null, 2)}\n`;
        const { puid, pgid } = host.use('config.store').root();
        const owner = { uid: Number(puid), gid: Number(pgid) };
        const making = { mode: DIRECTORY_MODE, owner };
        await writeFileAtomic(file, text, { mode: FILE_MODE, making, tidies: true });
      },
      failed: error => host.log.error(`${file} cannot be written; a restart would not know of the last backups`, error),
      mended: () => host.log.info(`${file} is written again`),
    });
  }

  /** Reads the file. One that cannot be used is logged, and replaced at the next change. */
  static async open(host: Host, places: Places): Promise<ScheduleState> {
    const file = scheduleFile(places);
    const records = await readRecords(file).catch((error: unknown) => {
      host.log.warn(`${file} cannot be used, so scheduled backups of symlinks begin anew`, error);
      return new Map<string, ScheduleRecord>();
    });
    return new ScheduleState(host, file, records);
  }

  get(processName: string): ScheduleRecord | undefined {
    return this.#records.get(processName);
  }

  names(): string[] {
    return [...this.#records.keys()];
  }

  /** Resolves when the record is on the disk. A failed write is logged. */
  async set(processName: string, record: ScheduleRecord): Promise<void> {
    this.#records.set(processName, record);
    await this.#writes.save();
  }

  async remove(processName: string): Promise<void> {
    if (this.#records.delete(processName)) await this.#writes.save();
  }

  close(): Promise<void> {
    return this.#writes.close();
  }
}

async function readRecords(file: string): Promise<Map<string, ScheduleRecord>> {
  const bytes = await GuardedDirectory.at(file, (directory, name) => directory.read(name, MAX_BYTES)).catch(
    (error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error;
      return null;
    },
  );
  if (bytes === null) return new Map();
  return new Map(Object.entries(z.record(z.string(), recordSchema).parse(JSON.parse(bytes.toString()))));
}
