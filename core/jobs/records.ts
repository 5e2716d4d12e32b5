// Keeps jobs of one kind on disk: one file for each job and one for its result, both replaced atomically.
import { z } from 'zod';
import type { Job } from '../contract/job.ts';
import { isTemporary, PrivateDirectory } from '../kit/private-directory.ts';

/** Enough for an input, a checkpoint and details of 64 KiB each. */
const RECORD_BYTES = 256 * 1024;
export const RESULT_BYTES = 2 * 1024 * 1024;

const RECORD_NAME = /^([0-9a-f]{32})\.json$/;
const RESULT_NAME = /^([0-9a-f]{32})\.result\.json$/;

const time = z.number().nonnegative();

const recordSchema = z.lazy(() =>
  z.object({
    version: z.literal(1),
    id: z.string().regex(/^[0-9a-f]{32}$/),
    kind: z.string(),
    key: z.string(),
    state: z.enum(['queued', 'running', 'succeeded', 'failed', 'cancelled', 'interrupted']),
    input: z.unknown(),
    progress: z
      .object({ percent: z.number().nullable(), text: z.string().nullable(), details: z.unknown() })
      .nullable(),
    checkpoint: z.unknown(),
    error: z.object({ message: z.string(), code: z.string() }).nullable(),
    interruptions: z.number().int().nonnegative(),
    queuedAt: time,
    startedAt: time.nullable(),
    endedAt: time.nullable(),
    updatedAt: time,
  }),
);

export interface FoundRecords {
  readonly jobs: readonly Job[];
  /** Files that could not be read as records, with the reason. */
  readonly unreadable: ReadonlyMap<string, unknown>;
}

export class JobRecords {
  readonly #configDir: string;
  readonly #parts: readonly string[];
  #directory: PrivateDirectory | null = null;
  #last: Promise<unknown> = Promise.resolve();
  #closed = false;

  /** The directory is `{configDir}/jobs/<plugin>/<kind>`, created by the first write. */
  constructor(configDir: string, plugin: string, kind: string) {
    this.#configDir = configDir;
    this.#parts = ['jobs', plugin, kind];
  }

  /** Reads all records and changes nothing. Throws when the directory cannot be trusted. */
  async load(): Promise<FoundRecords> {
    this.#directory ??= await PrivateDirectory.open(this.#configDir, this.#parts, { create: false });
    const jobs: Job[] = [];
    const unreadable = new Map<string, unknown>();
    for (const name of (await this.#directory?.names()) ?? []) {
      if (!RECORD_NAME.test(name)) continue;
      try {
        const bytes = await this.#directory?.read(name, RECORD_BYTES);
        if (bytes == null) continue;
        const { version, ...job } = recordSchema.parse(JSON.parse(bytes.toString('utf8')));
        if (`${job.id}.json` !== name) throw new Error(`it holds the job ${job.id}`);
        jobs.push(job);
      } catch (error) {
        unreadable.set(name, error);
      }
    }
    return { jobs: jobs.sort((a, b) => a.queuedAt - b.queuedAt), unreadable };
  }

  /**
   * Sets unreadable records aside and removes files that interrupted writes left. `isKnown` tells whether a job with
   * that id exists.
   */
  tidy(isKnown: (id: string) => boolean, unreadable: Iterable<string>): Promise<void> {
    return this.#inTurn(async () => {
      const directory = this.#directory;
      if (directory === null) return;
      for (const name of unreadable) await directory.rename(name, `${name}.corrupt-${Date.now()}`);
      for (const name of await directory.names()) {
        const [, id] = RESULT_NAME.exec(name) ?? [];
        if (isTemporary(name) || (id !== undefined && !isKnown(id))) await directory.remove(name);
      }
    });
  }

  /** Reads the job when the write begins, so that an older state never replaces a newer one. */
  write(job: () => Job, { durable = true }: { durable?: boolean } = {}): Promise<void> {
    return this.#replace(() => [`${job().id}.json`, JSON.stringify({ version: 1, ...job() })], durable);
  }

  writeResult(id: string, text: string): Promise<void> {
    return this.#replace(() => [`${id}.result.json`, text], true);
  }

  async readResult(id: string): Promise<unknown> {
    const bytes = await this.#directory?.read(`${id}.result.json`, RESULT_BYTES);
    return bytes == null ? null : JSON.parse(bytes.toString('utf8'));
  }

  remove(id: string): Promise<void> {
    return this.#inTurn(async () => {
      await this.#directory?.remove(`${id}.json`);
      await this.#directory?.remove(`${id}.result.json`);
    });
  }

  close(): Promise<void> {
    return this.#inTurn(async () => {
      this.#closed = true;
      await this.#directory?.close();
      this.#directory = null;
    });
  }

  #replace(content: () => [name: string, text: string], durable: boolean): Promise<void> {
    return this.#inTurn(async () => {
      if (this.#closed) throw new Error('the records are closed');
      // The directory may have been removed while the host runs; it is then created again.
      if (this.#directory !== null && !(await this.#directory.isInPlace())) {
        await this.#directory.close();
        this.#directory = null;
      }
      this.#directory ??= await PrivateDirectory.open(this.#configDir, this.#parts);
      await this.#directory?.replace(...content(), { durable });
    });
  }

  #inTurn(step: () => Promise<void>): Promise<void> {
    const done = this.#last.then(step);
    this.#last = done.catch(() => undefined);
    return done;
  }
}
