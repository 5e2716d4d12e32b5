// Reads and changes a service's own configuration file. The invariant: what is written parses to exactly what was meant.

import { createHash } from 'node:crypto';
import { lchown, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { type NamedBlock, Problem } from '#core';
import { removeTemporaryFiles, writeFileAtomic } from '#kit/atomic-write';
import { deepEqual } from '#kit/deep-equal';
import { fileVersion } from '#kit/fs-out-of-process';
import { isObject } from '#kit/plain-object';
import { realPlaceOf } from '#kit/system-paths';
import type { ConfigFormat, EditMode, FileObject, ServiceFileAccess, WantedFile } from './contract.ts';
import { type CheckedFile, checkPath, confirmPath, confirmPlace, openChecked, type Places } from './path-safety.ts';

const MAX_BYTES = 5 * 1024 * 1024;
const KEPT_VERSIONS = 5;

type FileAttributes = Pick<WantedFile, 'mode' | 'owner'>;

export interface FileUpdate {
  readonly updates: FileObject | string;
  readonly mode: EditMode;
  /** The version the caller saw. */
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
  readonly #places: () => Places;
  /** One update at a time per file. */
  readonly #locks = new Map<string, Promise<unknown>>();

  constructor(formats: () => readonly ConfigFormat[], places: () => Places) {
    this.#formats = formats;
    this.#places = places;
  }

  async read(block: NamedBlock, file?: string): Promise<ReadFile> {
    const checked = await checkPath(block, this.#places(), file);
    const format = this.#formatOf(checked.file);
    const { text, revision } = await readText(checked);
    return { format, config: format.parse(text), raw: text, revision };
  }

  async values(block: NamedBlock, file?: string): Promise<FileObject> {
    return (await this.read(block, file)).config;
  }

  async update(block: NamedBlock, update: FileUpdate): Promise<{ changed: number; revision: string }> {
    const { file } = await checkPath(block, this.#places());
    return this.#alone(file, () => this.#update(block, update));
  }

  async ensure(block: NamedBlock, file: string, wanted: WantedFile): Promise<void> {
    if ((await fileVersion(file)) === null) {
      if (wanted.seed === undefined) return;
      await this.#create(block, file, { ...wanted, seed: wanted.seed });
    }
    const checked = await checkPath(block, this.#places(), file);
    await this.#alone(checked.file, async () => {
      const format = this.#formatOf(checked.file);
      const { text } = await readText(checked);
      const present = format.parse(text);
      const kept = typeof wanted.values === 'function' ? wanted.values(present) : wanted.values;
      const values = mergeOver(missingIn(present, wanted.initial), kept);
      const edited = format.edit(text, values, 'merge');
      if (edited.text === text) return;
      confirmValues(format, edited.text, format.readBack?.(values, text) ?? values, 'merge');
      await this.#write(block, checked, text, edited.text);
    });
  }

  async write(block: NamedBlock, file: string, text: string, { mode, owner }: FileAttributes): Promise<void> {
    await this.#alone(file, async () => {
      if ((await readFile(file, 'utf8').catch(() => undefined)) === text) return;
      await this.#create(block, file, { seed: text, mode, owner });
    });
  }

  async #alone<Result>(file: string, work: () => Promise<Result>): Promise<Result> {
    const running = (this.#locks.get(file) ?? Promise.resolve()).then(work);
    const settled = running.catch(() => undefined);
    this.#locks.set(file, settled);
    try {
      return await running;
    } finally {
      if (this.#locks.get(file) === settled) this.#locks.delete(file);
    }
  }

  async #create(
    block: NamedBlock,
    file: string,
    { seed, mode, owner }: FileAttributes & { readonly seed: string },
  ): Promise<void> {
    const place = await realPlaceOf(file);
    await confirmPlace(place, block, this.#places());
    const made = await mkdir(path.dirname(place), { recursive: true });
    await writeFileAtomic(place, seed, { mode });
    if (owner === null) return;
    await lchown(place, owner.uid, owner.gid);
    for (
      let parent = path.dirname(place);
      made !== undefined && parent.startsWith(made);
      parent = path.dirname(parent)
    ) {
      await lchown(parent, owner.uid, owner.gid);
    }
  }

  async #update(block: NamedBlock, update: FileUpdate): Promise<{ changed: number; revision: string }> {
    const checked = await checkPath(block, this.#places());
    const format = this.#formatOf(checked.file);
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
    confirmValues(format, edited.text, format.readBack?.(values, text) ?? values, update.mode);
    return { changed: edited.changed, revision: await this.#write(block, checked, text, edited.text) };
  }

  #formatOf(file: string): ConfigFormat {
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
      await this.#keep(block, checked.file, before);
      await confirmPath(checked);
      // What a write left that was killed.
      await removeTemporaryFiles(checked.file);
      await writeFileAtomic(checked.file, after);
    } catch (error) {
      if (error instanceof Problem) throw error;
      throw new Problem(503, 'The file cannot be written; it is as it was', { cause: error });
    }
    return revisionOf(Buffer.from(after));
  }

  /** The last versions, newest last by name. */
  async #keep({ processName }: NamedBlock, file: string, text: string): Promise<void> {
    const slug = processName.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');
    const directory = path.join(this.#places().configDir, 'backups', 'service-config', slug);
    await mkdir(directory, { recursive: true, mode: 0o700 });
    const name = `${new Date().toISOString().replaceAll(/[:.]/g, '-')}-${path.basename(file)}`;
    await writeFile(path.join(directory, name), text, { mode: 0o600 });
    const versions = (await readdir(directory)).filter(found => found.endsWith(`-${path.basename(file)}`)).sort();
    for (const old of versions.slice(0, -KEPT_VERSIONS)) await rm(path.join(directory, old), { force: true });
  }
}

async function readText(checked: CheckedFile): Promise<{ text: string; revision: string }> {
  const handle = await openChecked(checked);
  try {
    const { size } = await handle.stat();
    if (size > MAX_BYTES) throw new Problem(400, `The file has more than ${MAX_BYTES} bytes`);
    const bytes = await handle.readFile();
    if (bytes.includes(0)) throw new Problem(400, 'The file is binary or encrypted');
    const text = bytes.toString('utf8');
    if (!Buffer.from(text, 'utf8').equals(bytes)) throw new Problem(400, 'The file is not UTF-8 text');
    return { text, revision: revisionOf(bytes) };
  } finally {
    await handle.close();
  }
}

function revisionOf(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** What an editor made must read as what was asked for; anything else is a fault of the editor, and is not written. */
function confirmValues(format: ConfigFormat, text: string, values: FileObject, mode: EditMode): void {
  let found: unknown;
  try {
    found = format.parse(text);
  } catch (error) {
    throw new Problem(500, 'The edited file would not be readable, so it was not written', { cause: error });
  }
  const same = mode === 'replace' ? deepEqual(found, values) : contains(found, values);
  if (!same) throw new Problem(500, 'The edited file would not hold what was sent, so it was not written');
}

/** The part of `wanted` for which `found` has nothing. */
function missingIn(found: unknown, wanted: FileObject): FileObject {
  const has = (key: string): boolean => isObject(found) && Object.hasOwn(found, key) && found[key] !== null;
  return Object.fromEntries(
    Object.entries(wanted).flatMap(([key, value]) => {
      if (!has(key)) return [[key, value]];
      const rest = isObject(value) ? missingIn((found as FileObject)[key], value) : {};
      return Object.keys(rest).length === 0 ? [] : [[key, rest]];
    }),
  );
}

function mergeOver(lower: FileObject, upper: FileObject): FileObject {
  const merged = { ...lower };
  for (const [key, value] of Object.entries(upper)) {
    const under = merged[key];
    merged[key] = isObject(under) && isObject(value) ? mergeOver(under, value) : value;
  }
  return merged;
}

function contains(found: unknown, wanted: unknown): boolean {
  if (!isObject(wanted)) return deepEqual(found, wanted);
  return (
    isObject(found) &&
    Object.entries(wanted).every(([key, value]) => Object.hasOwn(found, key) && contains(found[key], value))
  );
}
