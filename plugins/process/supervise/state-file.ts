// What the next host needs to continue, written on every launch, exit and change by a user before anything else
// happens.
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

const wantedSchema = z.object({
  state: z.enum(['running', 'stopped']),
  by: z.string(),
  at: z.number().describe('Unix seconds'),
  shown: z.boolean().describe('started by hand since the last orderly stop: shown like what is enabled'),
});

const stateSchema = z.object({
  version: z.literal(1),
  processes: z.record(z.string(), recordSchema),
  wanted: z.record(z.string(), wantedSchema).default({}),
});

export type ProcessRecord = z.output<typeof recordSchema>;
/** A process that no host has launched has neither captured output nor a digest. */
export type FoundProcess = Omit<ProcessRecord, 'spool' | 'block_digest' | 'config_key'> & Partial<ProcessRecord>;
export type WantedRecord = Readonly<z.output<typeof wantedSchema>>;

interface Content {
  readonly records: Map<string, ProcessRecord>;
  readonly wanted: Map<string, WantedRecord>;
}

export class StateFile {
  readonly #file: string;
  readonly #log: Logger;
  #content: Content | undefined;
  /** The error of an unreadable file, which is set aside before another is written. */
  #fault: unknown;
  #closed = false;

  constructor(directory: string, log: Logger) {
    this.#file = path.join(directory, 'state.json');
    this.#log = log;
  }

  /** The records of the previous host. An unreadable file is set aside. */
  load(): ReadonlyMap<string, ProcessRecord> {
    const { records } = this.#known();
    this.#setAside();
    return new Map(records);
  }

  set(processName: string, record: ProcessRecord): void {
    this.#known().records.set(processName, record);
    this.#save();
  }

  /** `runId` restricts this to the record of that run, because the name may have a newer one. */
  delete(processName: string, runId = this.#known().records.get(processName)?.run_id): void {
    const { records } = this.#known();
    if (records.get(processName)?.run_id !== runId) return;
    if (records.delete(processName)) this.#save();
  }

  wanted(processName: string): WantedRecord | undefined {
    return this.#known().wanted.get(processName);
  }

  setWanted(processName: string, record: WantedRecord): void {
    this.#known().wanted.set(processName, record);
    this.#save();
  }

  /** Deletes the wanted state of one process, or of all without a name. */
  deleteWanted(processName?: string): void {
    const { wanted } = this.#known();
    const changed = processName === undefined ? wanted.size > 0 : wanted.delete(processName);
    if (processName === undefined) wanted.clear();
    if (changed) this.#save();
  }

  /** Ends all writing, because the next supervision is the only writer from now on. */
  close(): void {
    this.#closed = true;
  }

  /** Read on first use; reading alone changes nothing on disk. */
  #known(): Content {
    this.#content ??= this.#read();
    return this.#content;
  }

  #read(): Content {
    try {
      const { processes, wanted } = stateSchema.parse(JSON.parse(readFileSync(this.#file, 'utf8')));
      return { records: new Map(Object.entries(processes)), wanted: new Map(Object.entries(wanted)) };
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === undefined) this.#fault = error;
      else if (code !== 'ENOENT') this.#log.error(`${this.#file} cannot be read`, error);
      return { records: new Map(), wanted: new Map() };
    }
  }

  #setAside(): void {
    if (this.#fault === undefined) return;
    const aside = `${this.#file}.corrupt-${Date.now()}`;
    renameSync(this.#file, aside);
    this.#log.error(`the supervisor's state was not readable and is kept as ${aside}`, this.#fault);
    this.#fault = undefined;
  }

  /** Synchronous, so that nothing else happens between a launch and its record. */
  #save(): void {
    if (this.#closed) return;
    const { records, wanted } = this.#known();
    const processes = Object.fromEntries(records);
    const text = JSON.stringify({ version: 1, processes, wanted: Object.fromEntries(wanted) }, null, 2);
    try {
      this.#setAside();
      mkdirSync(path.dirname(this.#file), { recursive: true, mode: 0o700 });
      writeFileSync(`${this.#file}.new`, text, { mode: 0o600 });
      renameSync(`${this.#file}.new`, this.#file);
    } catch (error) {
      this.#log.error(`${this.#file} cannot be written; a restart of Stackwarden would not know its processes`, error);
    }
  }
}
