// Reads and changes a service's own configuration file. Every text that is written parses to exactly the wanted values.

import { createHash } from 'node:crypto';
import { lchown, mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { type NamedBlock, Problem } from '#core';
import { removeTemporaryFiles, writeFileAtomic } from '#kit/atomic-write';
import { deepEqual } from '#kit/deep-equal';
import { fileVersion } from '#kit/fs-out-of-process';
import { isObject } from '#kit/plain-object';
import { realPlaceOf } from '#kit/system-paths';
import type { ConfigFormat, EditMode, FileObject, ServiceFileAccess, WantedFile } from './contract.ts';
import {
  type CheckedFile,
  checkPath,
  type KnownPaths,
  openUnchanged,
  requireAllowed,
  requireUnchanged,
} from './path-safety.ts';

const MAX_BYTES = 5 * 1024 * 1024;
const MAX_BACKUPS = 5;

type FileAttributes = Pick<WantedFile, 'mode' | 'owner'>;

export interface FileUpdate {
  readonly updates: FileObject | string;
  readonly mode: EditMode;
  /** The revision that the caller has read; a file with another one is not changed. */
  readonly revision: string | undefined;
  readonly format: string | undefined;
}

export interface ReadFile {
  readonly format: ConfigFormat;
  readonly config: FileObject;
  readonly raw: string;
  readonly revision: string;
}

export class ServiceFiles implements ServiceFileAccess {
  readonly #formats: () => readonly ConfigFormat[];
  readonly #paths: () => KnownPaths;
  /** The last task of each file, by path: the next task of that file starts after it. */
  readonly #lastTasks = new Map<string, Promise<unknown>>();

  constructor(formats: () => readonly ConfigFormat[], paths: () => KnownPaths) {
    this.#formats = formats;
    this.#paths = paths;
  }

  async read(block: NamedBlock, file?: string): Promise<ReadFile> {
    const checked = await checkPath(block, this.#paths(), file);
    const format = this.#selectFormat(checked.file);
    const { text, revision } = await readText(checked);
    return { format, config: format.parse(text), raw: text, revision };
  }

  async values(block: NamedBlock, file?: string): Promise<FileObject> {
    return (await this.read(block, file)).config;
  }

  async update(block: NamedBlock, update: FileUpdate): Promise<{ changed: number; revision: string }> {
    const { file } = await checkPath(block, this.#paths());
    return this.#runExclusively(file, () => this.#update(block, update));
  }

  async ensure(block: NamedBlock, file: string, wanted: WantedFile): Promise<void> {
    if ((await fileVersion(file)) === null) {
      if (wanted.seed === undefined) return;
      await this.#create(block, file, { ...wanted, seed: wanted.seed });
    }
    const checked = await checkPath(block, this.#paths(), file);
    await this.#runExclusively(checked.file, async () => {
      const format = this.#selectFormat(checked.file);
      const { text } = await readText(checked);
      const present = format.parse(text);
      const kept = typeof wanted.values === 'function' ? wanted.values(present) : wanted.values;
      const values = mergeDeep(pickMissing(present, wanted.initial), kept);
      const edited = format.edit(text, values, 'merge');
      if (edited.text === text) return;
      verifyEdit(format, edited.text, format.readBack?.(values, text) ?? values, 'merge');
      await this.#write(block, checked, text, edited.text);
    });
  }

  async write(block: NamedBlock, file: string, text: string, { mode, owner }: FileAttributes): Promise<void> {
    await this.#runExclusively(file, async () => {
      if ((await this.#readGenerated(block, file)) === text) return;
      await this.#create(block, file, { seed: text, mode, owner });
    });
  }

  /**
   * The text of a generated file; undefined when it is missing, or when something unreadable in its place is replaced.
   */
  async #readGenerated(block: NamedBlock, file: string): Promise<string | undefined> {
    try {
      return (await readText(await checkPath(block, this.#paths(), file))).text;
    } catch (error) {
      if (error instanceof Problem && error.status !== 503) return undefined;
      throw error;
    }
  }

  async #runExclusively<Result>(file: string, work: () => Promise<Result>): Promise<Result> {
    const running = (this.#lastTasks.get(file) ?? Promise.resolve()).then(work);
    const settled = running.catch(() => undefined);
    this.#lastTasks.set(file, settled);
    try {
      return await running;
    } finally {
      if (this.#lastTasks.get(file) === settled) this.#lastTasks.delete(file);
    }
  }

  async #create(
    block: NamedBlock,
    file: string,
    { seed, mode, owner }: FileAttributes & { readonly seed: string },
  ): Promise<void> {
    const place = await realPlaceOf(file);
    await requireAllowed(place, block, this.#paths());
    const firstCreated = await mkdir(path.dirname(place), { recursive: true });
    await writeFileAtomic(place, seed, { mode });
    if (owner === null) return;
    await lchown(place, owner.uid, owner.gid);
    for (
      let parent = path.dirname(place);
      firstCreated !== undefined && parent.startsWith(firstCreated);
      parent = path.dirname(parent)
    ) {
      await lchown(parent, owner.uid, owner.gid);
    }
  }

  async #update(block: NamedBlock, update: FileUpdate): Promise<{ changed: number; revision: string }> {
    const checked = await checkPath(block, this.#paths());
    const format = this.#selectFormat(checked.file);
    if (update.format !== undefined && update.format !== format.name) {
      throw new Problem(400, `The file is ${format.name}, not ${update.format}`);
    }
    const { text, revision } = await readText(checked);
    if (update.revision !== undefined && update.revision !== revision) {
      throw new Problem(409, 'The file was changed meanwhile; read it again');
    }
    const wanted = typeof update.updates === 'string' ? format.readUpdate(update.updates) : undefined;
    if (wanted?.kind === 'file') {
      if (wanted.text === text) return { changed: 0, revision };
      return { changed: 1, revision: await this.#write(block, checked, text, wanted.text) };
    }
    const values = wanted?.values ?? (update.updates as FileObject);
    const edited = format.edit(text, values, update.mode);
    if (edited.text === text) return { changed: 0, revision };
    verifyEdit(format, edited.text, format.readBack?.(values, text) ?? values, update.mode);
    return { changed: edited.changed, revision: await this.#write(block, checked, text, edited.text) };
  }

  #selectFormat(file: string): ConfigFormat {
    const name = path.basename(file);
    const extension = path.extname(name).toLowerCase();
    const fitting = this.#formats().filter(format => format.extensions.includes(extension));
    const chosen =
      fitting.find(format => format.matches?.(name) === true) ?? fitting.find(format => format.matches === undefined);
    if (chosen === undefined) throw new Problem(400, `Files of the kind '${extension || name}' cannot be edited here`);
    return chosen;
  }

  async #write(block: NamedBlock, checked: CheckedFile, before: string, after: string): Promise<string> {
    try {
      await this.#backUp(block, checked.file, before);
      await requireUnchanged(checked);
      // A host that was killed during an earlier write left its temporary file behind.
      await removeTemporaryFiles(checked.file);
      await writeFileAtomic(checked.file, after);
    } catch (error) {
      if (error instanceof Problem) throw error;
      throw new Problem(503, 'The file cannot be written; it is as it was', { cause: error });
    }
    return computeRevision(Buffer.from(after));
  }

  /** Saves the text as a backup and deletes all but the newest backups; the time in their names gives their order. */
  async #backUp({ processName }: NamedBlock, file: string, text: string): Promise<void> {
    const slug = processName.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');
    const directory = path.join(this.#paths().configDir, 'backups', 'service-config', slug);
    await mkdir(directory, { recursive: true, mode: 0o700 });
    const name = `${new Date().toISOString().replaceAll(/[:.]/g, '-')}-${path.basename(file)}`;
    await writeFile(path.join(directory, name), text, { mode: 0o600 });
    const versions = (await readdir(directory)).filter(found => found.endsWith(`-${path.basename(file)}`)).sort();
    for (const old of versions.slice(0, -MAX_BACKUPS)) await rm(path.join(directory, old), { force: true });
  }
}

async function readText(checked: CheckedFile): Promise<{ text: string; revision: string }> {
  const handle = await openUnchanged(checked);
  try {
    const { size } = await handle.stat();
    if (size > MAX_BYTES) throw new Problem(400, `The file has more than ${MAX_BYTES} bytes`);
    const bytes = await handle.readFile();
    if (bytes.includes(0)) throw new Problem(400, 'The file is binary or encrypted');
    const text = bytes.toString('utf8');
    if (!Buffer.from(text, 'utf8').equals(bytes)) throw new Problem(400, 'The file is not UTF-8 text');
    return { text, revision: computeRevision(bytes) };
  } finally {
    await handle.close();
  }
}

function computeRevision(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/**
 * Throws a Problem 500 unless the edited text parses to the wanted values: a fault of a format must not reach the disk.
 */
function verifyEdit(format: ConfigFormat, text: string, values: FileObject, mode: EditMode): void {
  let found: unknown;
  try {
    found = format.parse(text);
  } catch (error) {
    throw new Problem(500, 'The edited file would not be readable, so it was not written', { cause: error });
  }
  const isAsWanted = mode === 'replace' ? deepEqual(found, values) : containsValues(found, values);
  if (!isAsWanted) throw new Problem(500, 'The edited file would not hold what was sent, so it was not written');
}

/** The part of `wanted` for which `found` has no value. */
function pickMissing(found: unknown, wanted: FileObject): FileObject {
  const has = (key: string): boolean => isObject(found) && Object.hasOwn(found, key) && found[key] !== null;
  return Object.fromEntries(
    Object.entries(wanted).flatMap(([key, value]) => {
      if (!has(key)) return [[key, value]];
      const rest = isObject(value) ? pickMissing((found as FileObject)[key], value) : {};
      return Object.keys(rest).length === 0 ? [] : [[key, rest]];
    }),
  );
}

/** Members of `upper` win; objects are merged at every depth. */
function mergeDeep(lower: FileObject, upper: FileObject): FileObject {
  const merged = { ...lower };
  for (const [key, value] of Object.entries(upper)) {
    const before = merged[key];
    merged[key] = isObject(before) && isObject(value) ? mergeDeep(before, value) : value;
  }
  return merged;
}

function containsValues(found: unknown, wanted: unknown): boolean {
  if (!isObject(wanted)) return deepEqual(found, wanted);
  return (
    isObject(found) &&
    Object.entries(wanted).every(([key, value]) => Object.hasOwn(found, key) && containsValues(found[key], value))
  );
}
