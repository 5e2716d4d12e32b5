// Reads and changes a service's own configuration file. Every text that is written parses to exactly the wanted values.

import path from 'node:path';
import { type NamedBlock, Problem } from '#core';
import { deepEqual } from '#kit/deep-equal';
import { refuseInfinite, refuseRounded } from '#kit/finite-data';
import { fileVersion } from '#kit/fs-out-of-process';
import { mergedValues } from '#kit/merged-values';
import { refuseLargeData } from '#kit/plain-data';
import { bareObject, isObject } from '#kit/plain-object';
import { realPlaceOf } from '#kit/system-paths';
import { valueAt } from '#kit/value-at';
import type { ConfigFormat, EditedText, EditMode, FileObject, ServiceFileAccess, WantedFile } from './contract.ts';
import type { FileVersions } from './file-versions.ts';
import { createFile, type HeldFile, holdFile, MAX_BYTES } from './held-file.ts';
import { checkPath, type KnownPaths, requireAllowed } from './path-safety.ts';

const MAX_KEPT = 32;
/** Longer texts are not kept. */
const MAX_KEPT_LENGTH = 64 * 1024;

type FileAttributes = Pick<WantedFile, 'mode' | 'owner'>;

export interface FileUpdate {
  readonly updates: FileObject | string;
  readonly mode: EditMode;
  /** The revision that the caller has read; a file with another one is not changed. */
  readonly revision: string | undefined;
  readonly format: string | undefined;
  /**
   * Is called with the real path before anything is read. Throws a Problem when the caller may not change that file.
   */
  readonly guard: (place: string) => Promise<void>;
}

export interface ReadFile {
  readonly format: ConfigFormat;
  readonly config: FileObject;
  readonly raw: string;
  readonly revision: string;
}

/** The text of a file that has not changed since, and its values once they were asked for. */
interface KeptText extends Omit<ReadFile, 'config'> {
  readonly place: string;
  readonly version: string | null;
  config: FileObject | undefined;
}

export class ServiceFiles implements ServiceFileAccess {
  readonly #formats: () => readonly ConfigFormat[];
  readonly #paths: () => KnownPaths;
  readonly #versions: FileVersions;
  /** The last task of each file, by path: the next task of that file starts after it. */
  readonly #lastTasks = new Map<string, Promise<unknown>>();
  /** The kept texts by path; the one that was read last comes last. */
  readonly #kept = new Map<string, KeptText>();

  constructor(formats: () => readonly ConfigFormat[], paths: () => KnownPaths, versions: FileVersions) {
    this.#formats = formats;
    this.#paths = paths;
    this.#versions = versions;
  }

  async read(block: NamedBlock, file?: string): Promise<ReadFile> {
    const text = await this.#text(block, file);
    const { format, raw, revision } = text;
    text.config ??= await namingFile(text.place, () => format.parse(raw));
    return { format, config: text.config, raw, revision };
  }

  /** Parsed for each caller, which may change what it gets. */
  async values(block: NamedBlock, file?: string): Promise<FileObject> {
    const { format, raw, place } = await this.#text(block, file);
    return namingFile(place, () => format.parse(raw));
  }

  async update(block: NamedBlock, update: FileUpdate): Promise<{ changed: number; revision: string }> {
    const place = await checkPath(block, this.#paths());
    await update.guard(place);
    return this.#runExclusively(place, () => holdFile(place, held => this.#update(block, place, held, update)));
  }

  async ensure(block: NamedBlock, file: string, wanted: WantedFile): Promise<void> {
    if ((await fileVersion(file)) === null) {
      if (wanted.seed === undefined) return;
      await this.#create(block, file, { ...wanted, seed: wanted.seed });
    }
    const place = await checkPath(block, this.#paths(), file);
    const bringInLine = async (held: HeldFile): Promise<void> => {
      const format = this.#selectFormat(place);
      const { text } = await held.read();
      const present = await format.parse(text);
      const kept = typeof wanted.values === 'function' ? wanted.values(present) : wanted.values;
      const values = mergedValues(pickMissing(present, wanted.initial), kept) as FileObject;
      const edited = await editVerified(format, text, values, 'merge');
      const left = await textWithout(format, edited.text, wanted.absent?.(present) ?? []);
      if (left !== text) await this.#write(block, place, held, text, left);
    };
    await this.#runExclusively(place, () => holdFile(place, bringInLine));
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
      const place = await checkPath(block, this.#paths(), file);
      return (await holdFile(place, held => held.read())).text;
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

  async #text(block: NamedBlock, file?: string): Promise<KeptText> {
    const place = await checkPath(block, this.#paths(), file);
    const format = this.#selectFormat(place);
    return holdFile(place, async held => {
      const { version } = held;
      const kept = this.#kept.get(place);
      if (version !== null && kept?.version === version && kept.format === format) return kept;
      const { text: raw, revision } = await held.read();
      const text = { place, version, format, raw, revision, config: undefined };
      this.#kept.delete(place);
      if (version !== null && raw.length <= MAX_KEPT_LENGTH) this.#kept.set(place, text);
      const [oldest = place] = this.#kept.keys();
      if (this.#kept.size > MAX_KEPT) this.#kept.delete(oldest);
      return text;
    });
  }

  async #create(
    block: NamedBlock,
    file: string,
    { seed, mode, owner }: FileAttributes & { readonly seed: string },
  ): Promise<void> {
    const place = await realPlaceOf(file);
    await requireAllowed(place, block, this.#paths());
    await createFile(place, seed, { mode, owner });
  }

  async #update(
    block: NamedBlock,
    place: string,
    held: HeldFile,
    update: FileUpdate,
  ): Promise<{ changed: number; revision: string }> {
    // Refused before it is parsed, which takes many times the memory.
    if (typeof update.updates === 'string') refuseLargeData([update.updates], MAX_BYTES);
    const format = this.#selectFormat(place);
    requireFormat(format, update.format);
    const { text, revision } = await held.read();
    if (update.revision !== undefined && update.revision !== revision) {
      throw new Problem(409, 'The file was changed meanwhile; read it again');
    }
    const wanted = typeof update.updates === 'string' ? await format.readUpdate(update.updates) : undefined;
    const values = wanted?.kind === 'file' ? undefined : (wanted?.values ?? (update.updates as FileObject));
    await refuseRounded(values, () => namingFile(place, () => format.parse(text)));
    const edited =
      wanted?.kind === 'file'
        ? { text: wanted.text, changed: 1 }
        : await namingFile(place, () => editVerified(format, text, values as FileObject, update.mode));
    if (edited.text === text) return { changed: 0, revision };
    return { changed: edited.changed, revision: await this.#write(block, place, held, text, edited.text) };
  }

  #selectFormat(file: string): ConfigFormat {
    const name = path.basename(file);
    const extension = path.extname(name).toLowerCase();
    const fitting = this.#formats().filter(format => format.extensions.includes(extension));
    const chosen = fitting.find(format => isOf(format, name)) ?? fitting.find(format => format.matches === undefined);
    if (chosen !== undefined) return chosen;
    const known = [...new Set(this.#formats().flatMap(({ extensions }) => extensions))].sort().join(', ');
    const kind = extension || name;
    throw new Problem(400, `Files of the kind '${kind}' are not edited here, only ${known}; edit ${file} by hand`);
  }

  async #write(block: NamedBlock, place: string, held: HeldFile, before: string, after: string): Promise<string> {
    await this.#versions.keep(block.processName, path.basename(place), before);
    return (await held.write(after)).revision;
  }
}

/** Throws a Problem 400 when a caller takes the file for another format than it has. */
export function requireFormat(format: ConfigFormat, name: string | undefined): void {
  if (name !== undefined && name !== format.name) throw new Problem(400, `The file is ${format.name}, not ${name}`);
}

function isOf(format: ConfigFormat, name: string): boolean {
  try {
    return format.matches?.(name) === true;
  } catch {
    // The call has counted and logged the fault; another format may fit the file.
    return false;
  }
}

/** Adds the file's name to the Problem of an invalid text, because a service may have several files. */
async function namingFile<Result>(place: string, read: () => Result | Promise<Result>): Promise<Result> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof Problem) || error.status !== 422) throw error;
    throw new Problem(422, `${path.basename(place)}: ${error.message}`, { cause: error });
  }
}

/**
 * The edited text, checked to read as exactly the wanted values, in a merge together with the present ones. Throws a
 * Problem 400 where the format cannot hold these values.
 */
async function editVerified(
  format: ConfigFormat,
  text: string,
  values: FileObject,
  mode: EditMode,
): Promise<EditedText> {
  refuseLargeData(values, MAX_BYTES);
  refuseInfinite(values);
  const edited = await format.edit(text, values, mode);
  if (edited.text === text) return edited;
  const sent = (await format.readBack?.(values, text)) ?? values;
  const wanted = mode === 'replace' ? sent : mergedValues(await format.parse(text), sent);
  const found = await (async () => format.parse(edited.text))().catch((cause: unknown) => {
    throw new Problem(400, 'With these values the file could not be read any more; edit it by hand', { cause });
  });
  if (deepEqual(found, wanted)) return edited;
  throw new Problem(
    400,
    'The file would not hold these values; where one place stands for several, send all alike, or edit it by hand',
  );
}

async function textWithout(
  format: ConfigFormat,
  text: string,
  places: readonly (readonly string[])[],
): Promise<string> {
  if (places.length === 0) return text;
  const values = await format.parse(text);
  let isChanged = false;
  for (const place of places) {
    const holder = valueAt(values, place.slice(0, -1));
    const name = place.at(-1) ?? '';
    if (!isObject(holder) || !Object.hasOwn(holder, name)) continue;
    delete holder[name];
    isChanged = true;
  }
  return isChanged ? (await editVerified(format, text, values, 'replace')).text : text;
}

/** The part of `wanted` for which `found` has no value. */
function pickMissing(found: unknown, wanted: FileObject): FileObject {
  const has = (key: string): boolean => isObject(found) && Object.hasOwn(found, key) && found[key] !== null;
  return bareObject(
    Object.entries(wanted).flatMap(([key, value]): [string, unknown][] => {
      if (!has(key)) return [[key, value]];
      const rest = isObject(value) ? pickMissing((found as FileObject)[key], value) : {};
      return Object.keys(rest).length === 0 ? [] : [[key, rest]];
    }),
  );
}
