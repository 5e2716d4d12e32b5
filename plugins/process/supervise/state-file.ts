// What the next host needs to adopt this one's processes, rewritten on every launch and exit before anything else happens.
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import type { Logger } from '#core';

const recordSchema = z.object({
  pid: z.number().int().describe('0 while the launch is under way'),
  pgid: z.number().int(),
  start_time: z.number().describe('clock ticks after boot'),
  boot_id: z.string(),
  started_at: z.number().describe('Unix seconds'),
  run_id: z.string(),
  spool: z.string(),
  block_digest: z.string().describe('of the configuration block that was launched'),
  config_key: z.string().default('').describe('of the entry, which may be gone when it is read'),
});

const stateSchema = z.object({ version: z.literal(1), processes: z.record(z.string(), recordSchema) });

export type ProcessRecord = z.output<typeof recordSchema>;
/** One that no host of ours has launched has no output of its own and no digest. */
export type FoundProcess = Omit<ProcessRecord, 'spool' | 'block_digest' | 'config_key'> & Partial<ProcessRecord>;

export class StateFile {
  readonly #file: string;
  readonly #log: Logger;
  #records = new Map<string, ProcessRecord>();
  #closed = false;

  constructor(directory: string, log: Logger) {
    this.#file = path.join(directory, 'state.json');
    this.#log = log;
  }

  /** Records of the previous host. A file that cannot be understood is set aside. */
  load(): ReadonlyMap<string, ProcessRecord> {
    let text: string;
    try {
      text = readFileSync(this.#file, 'utf8');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') this.#log.error(`${this.#file} cannot be read`, error);
      return new Map();
    }
    try {
      this.#records = new Map(Object.entries(stateSchema.parse(JSON.parse(text)).processes));
    } catch (error) {
      const aside = `${this.#file}.corrupt-${Date.now()}`;
      renameSync(this.#file, aside);
      this.#log.error(`the supervisor's state was not readable and is kept as ${aside}`, error);
    }
    return new Map(this.#records);
  }

  /** From now on the file belongs to whoever supervises next. */
  close(): void {
    this.#closed = true;
  }

  set(processName: string, record: ProcessRecord): void {
    this.#records.set(processName, record);
    this.#save();
  }

  /** `runId`: only the record of this run; a name may have been given to another process meanwhile. */
  delete(processName: string, runId = this.#records.get(processName)?.run_id): void {
    if (this.#records.get(processName)?.run_id !== runId) return;
    if (this.#records.delete(processName)) this.#save();
  }

  /** Synchronous: nothing else happens between a launch and its record. */
  #save(): void {
    if (this.#closed) return;
    const text = JSON.stringify({ version: 1, processes: Object.fromEntries(this.#records) }, null, 2);
    try {
      mkdirSync(path.dirname(this.#file), { recursive: true, mode: 0o700 });
      writeFileSync(`${this.#file}.new`, text, { mode: 0o600 });
      renameSync(`${this.#file}.new`, this.#file);
    } catch (error) {
      this.#log.error(`${this.#file} cannot be written; a restart of Stackwarden would not know its processes`, error);
    }
  }
}
