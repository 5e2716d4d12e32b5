// The records of the folders into which the host has installed. They are kept below the configuration directory,
// because a service can write to its own folder. A swap is recorded before its first step, so that the next start can
// complete it.
import { createHash } from 'node:crypto';
import path from 'node:path';
import { z } from 'zod';
import type { Logger } from '#core';
import { isTemporary, PrivateDirectory } from '#kit/private-directory';
import { diskFault } from './disk-space.ts';

/** Below the configuration directory. */
export const RECORDS_DIRECTORY = 'installs';
const MAX_BYTES = 1024 * 1024;
const SUFFIX = '.json';

/** A name in the work directory of a folder. */
const part = z.string().regex(/^[a-z]+-[0-9a-f]{8}$/);
/** A path below the folder, or below a part. */
const place = z.string().regex(/^(?!\/)(?!(?:.*\/)?\.{1,2}(?:\/|$))[^\0]+$/);
const release = z.lazy(() => z.object({ version: z.string().nullable(), installedAt: z.number().nullable() }));
const previous = z.lazy(() =>
  release.unwrap().extend({
    kept: z
      .object({
        part: part.describe('where it lies'),
        outs: z.array(place).describe('what lies there'),
        ins: z.array(place).describe('what came in their place'),
      })
      .nullable()
      .describe('null for one that went into the machine itself'),
  }),
);

const swap = z.lazy(() =>
  z.object({
    incoming: place.describe('below the work directory'),
    outgoing: part,
    outs: z.array(place),
    ins: z.array(place),
    installed: release,
    previous: previous.nullable(),
  }),
);

const folderRecord = z.lazy(() =>
  z.object({
    /** Absolute path, or `machine:<config key>` for a program that is installed in the machine itself. */
    directory: z.string(),
    user: z.object({ uid: z.number(), gid: z.number() }).nullable().describe('to whom what is made there belongs'),
    installed: release.nullable(),
    previous: previous.nullable(),
    swap: swap.nullable().describe('one that has begun and is not complete'),
    placing: z.string().nullable().default(null).describe('the release that is being placed in the machine itself'),
  }),
);

export type Release = z.output<typeof release>;
export type Swap = z.output<typeof swap>;
export type FolderRecord = z.output<typeof folderRecord>;

export class FolderRecords {
  readonly #configDir: string;
  readonly #log: Logger;
  readonly #records = new Map<string, FolderRecord>();

  constructor(configDir: string, log: Logger) {
    this.#configDir = configDir;
    this.#log = log;
  }

  /** To be called once, before anything else. A record that cannot be read is renamed, with a warning. */
  async load(): Promise<void> {
    const directory = await PrivateDirectory.open(this.#configDir, [RECORDS_DIRECTORY], { create: false });
    if (directory === null) return;
    try {
      for (const name of await directory.names()) {
        if (isTemporary(name)) await directory.remove(name);
        else if (name.endsWith(SUFFIX)) await this.#read(directory, name);
      }
    } finally {
      await directory.close();
    }
  }

  all(): readonly FolderRecord[] {
    return [...this.#records.values()];
  }

  of(directory: string): FolderRecord {
    const none = { directory, user: null, installed: null, previous: null, swap: null, placing: null };
    return this.#records.get(directory) ?? none;
  }

  /** Resolves when the record is on disk. */
  async save(record: FolderRecord): Promise<void> {
    await this.#write(record).catch((error: unknown) => {
      throw diskFault(path.join(this.#configDir, RECORDS_DIRECTORY), error) ?? error;
    });
    this.#records.set(record.directory, record);
  }

  /** Saves the record of a swap that has ended. If that fails, it counts until a later start finds the old record. */
  async settle(record: FolderRecord): Promise<void> {
    this.#records.set(record.directory, record);
    await this.save(record).catch(error =>
      this.#log.warn(`the end of the installation in ${record.directory} could not be recorded`, error),
    );
  }

  async #write(record: FolderRecord): Promise<void> {
    const directory = await PrivateDirectory.open(this.#configDir, [RECORDS_DIRECTORY]);
    try {
      await directory.replace(fileOf(record.directory), JSON.stringify(record, null, 2));
    } finally {
      await directory.close();
    }
  }

  async #read(directory: PrivateDirectory, name: string): Promise<void> {
    try {
      const text = await directory.read(name, MAX_BYTES);
      const record = folderRecord.parse(JSON.parse(String(text)));
      this.#records.set(record.directory, record);
    } catch (error) {
      const kept = `${name}.corrupt-${Date.now()}`;
      await directory.rename(name, kept);
      this.#log.warn(`the record ${name} of an installation cannot be read; it is kept as ${kept}`, error);
    }
  }
}

function fileOf(directory: string): string {
  return createHash('sha256').update(directory).digest('hex').slice(0, 32) + SUFFIX;
}
