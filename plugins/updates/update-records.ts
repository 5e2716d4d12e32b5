// The records of updates: results, schedules, owed starts and notices. They are kept in one file beside the
// configuration, so that they survive restarts of the host.
import path from 'node:path';
import { z } from 'zod';
import type { Host } from '#core';
import { writeFileAtomic } from '#kit/atomic-write';
import { errorText } from '#kit/error-text';
import { GuardedDirectory } from '#kit/guarded-directory';
import { declareHostState } from '#kit/host-state';
import { LaterWrite } from '#kit/later-write';
import { refuseCostlyJson } from '#kit/nesting';
import { isObject } from '#kit/plain-object';
import { noticeSchema, resultSchema, type UpdateNotice, type UpdateResult } from './update-result.ts';

const FILE = 'update_notices.json';
const FILE_MODE = 0o600;
const MAX_BYTES = 4 << 20;
const MAX_APPLIED = 30;
const MAX_INFO = 10;
/** The names of entries of the product itself, which have a separate member in the file, as other programs expect. */
const PROJECT = /^d(?:u|)mb/i;

const scheduleSchema = z.object({
  interval_hours: z.number(),
  start_time: z.string(),
  time_zone: z.string(),
  /** The date from which the intervals are counted. */
  first_day: z.iso.date(),
  /** Unix seconds. */
  next_check_at: z.number(),
});

const owedStartSchema = z.object({
  /** The process that was updated. */
  updated: z.string(),
  /** The messages about that update, while the start is outstanding and afterwards. */
  meanwhile: z.string(),
  afterwards: z.string(),
});

export type OwedStart = z.output<typeof owedStartSchema>;

export type ScheduleRecord = z.output<typeof scheduleSchema>;

export function isProject(processName: string): boolean {
  return PROJECT.test(processName);
}

export class UpdateRecords {
  readonly #results: Map<string, UpdateResult>;
  readonly #schedules: Map<string, ScheduleRecord>;
  readonly #owedStarts: Map<string, OwedStart>;
  #applied: readonly UpdateNotice[];
  #info: readonly UpdateNotice[];
  readonly #writes: LaterWrite;
  #revision = 0;

  private constructor(host: Host, file: string, content: Record<string, unknown>) {
    const { applied, info, project_statuses: project, statuses, schedules, owed_starts } = content;
    this.#applied = listOf(noticeSchema, applied).slice(0, MAX_APPLIED);
    this.#info = listOf(noticeSchema, info).slice(0, MAX_INFO);
    this.#results = new Map([...entriesOf(resultSchema, project), ...entriesOf(resultSchema, statuses)]);
    this.#schedules = new Map(entriesOf(scheduleSchema, schedules));
    this.#owedStarts = new Map(entriesOf(owedStartSchema, owed_starts));
    this.#writes = new LaterWrite({
      write: () =>
        writeFileAtomic(file, `${JSON.stringify(this.#content(), null, 2)}\n`, { mode: FILE_MODE, tidies: true }),
      failed: error => host.log.error(`${file} cannot be written; a restart would not know of the last updates`, error),
      mended: () => host.log.info(`${file} is written again`),
    });
  }

  /** Reads the file. One that cannot be read is renamed, with a warning. */
  static async open(host: Host): Promise<UpdateRecords> {
    declareHostState(FILE);
    const file = path.join(host.paths.configDir, FILE);
    return new UpdateRecords(host, file, await contentOf(host, file));
  }

  /** A number that changes with every change of the records. */
  get revision(): number {
    return this.#revision;
  }

  result(processName: string): UpdateResult | undefined {
    return this.#results.get(processName);
  }

  results(): ReadonlyMap<string, UpdateResult> {
    return this.#results;
  }

  schedule(processName: string): ScheduleRecord | undefined {
    return this.#schedules.get(processName);
  }

  /** The notices of installed updates, the newest first. */
  get applied(): readonly UpdateNotice[] {
    return this.#applied;
  }

  /** The notices of failures, the newest first. */
  get info(): readonly UpdateNotice[] {
    return this.#info;
  }

  /** Resolves when the file is written; a failed write is logged. The other methods that change records do the same. */
  setResult(processName: string, result: UpdateResult): Promise<void> {
    this.#results.set(processName, result);
    return this.#save();
  }

  setSchedule(processName: string, schedule: ScheduleRecord | null): Promise<void> {
    if (schedule !== null) this.#schedules.set(processName, schedule);
    else if (!this.#schedules.delete(processName)) return Promise.resolve();
    return this.#save();
  }

  /** The services whose start an update owes, by their names. */
  owedStarts(): ReadonlyMap<string, OwedStart> {
    return this.#owedStarts;
  }

  setOwedStart(processName: string, owed: OwedStart | null): Promise<void> {
    if (owed !== null) this.#owedStarts.set(processName, owed);
    else if (!this.#owedStarts.delete(processName)) return Promise.resolve();
    return this.#save();
  }

  /** A notice with the same id is replaced. */
  addNotice(notice: UpdateNotice): Promise<void> {
    const others = (list: readonly UpdateNotice[]) => list.filter(({ id }) => id !== notice.id);
    if (notice.type === 'applied') this.#applied = [notice, ...others(this.#applied)].slice(0, MAX_APPLIED);
    else this.#info = [notice, ...others(this.#info)].slice(0, MAX_INFO);
    return this.#save();
  }

  /** Forgets processes that the configuration does not have any more. */
  async keepOnly(names: ReadonlySet<string>): Promise<void> {
    const kept = [this.#results, this.#schedules, this.#owedStarts];
    const gone = kept.flatMap(records => [...records.keys()]).filter(name => !names.has(name));
    if (gone.length === 0) return;
    for (const name of gone) for (const records of kept) records.delete(name);
    await this.#save();
  }

  /** Resolves when everything is on the disk. Later changes are not written. */
  close(): Promise<void> {
    return this.#writes.close();
  }

  #save(): Promise<void> {
    this.#revision += 1;
    return this.#writes.save();
  }

  #content(): Record<string, unknown> {
    const results = (ofProject: boolean) =>
      Object.fromEntries([...this.#results].filter(([name]) => isProject(name) === ofProject));
    return {
      applied: this.#applied,
      info: this.#info,
      project_statuses: results(true),
      statuses: results(false),
      schedules: Object.fromEntries(this.#schedules),
      owed_starts: Object.fromEntries(this.#owedStarts),
    };
  }
}

async function contentOf(host: Host, file: string): Promise<Record<string, unknown>> {
  return GuardedDirectory.at(file, async (directory, name) => {
    try {
      const bytes = await directory.read(name, MAX_BYTES);
      if (bytes === null) return {};
      const text = bytes.toString();
      refuseCostlyJson(text);
      const content: unknown = JSON.parse(text);
      if (!isObject(content)) throw new Error('it holds no object');
      return content;
    } catch (error) {
      const aside = `${name}.corrupt-${new Date().toISOString().replaceAll(/[:.]/g, '-')}`;
      await directory.rename(name, aside);
      host.log.warn(`${file} cannot be read and is kept as ${aside}: ${errorText(error)}`);
      return {};
    }
  });
}

/** The elements that fit the schema; others may be those of another program. */
function listOf<Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema>[] {
  const parsed = (Array.isArray(value) ? value : []).map(one => schema.safeParse(one));
  return parsed.flatMap(({ data }) => (data === undefined ? [] : [data]));
}

function entriesOf<Schema extends z.ZodType>(schema: Schema, value: unknown): [string, z.output<Schema>][] {
  const entries = isObject(value) ? Object.entries(value) : [];
  return entries.flatMap(([name, one]) => listOf(schema, [one]).map(data => [name, data] as [string, typeof data]));
}
