// Finds services that need another one by their own configuration file, although their block does not say so.
import type { Host } from '#core';
import { fileVersions } from '#kit/fs-out-of-process';
import { valueAt } from '#kit/value-at';
import type {} from '../config-files/contract.ts';
import type { GraphEntry } from '../dependency-graph/contract.ts';
import type {} from '../services/contract.ts';

const CHECK_LIMIT_MS = 1_000;

interface Asked {
  readonly file: string;
  readonly processName: string;
  /** Paths of members of the file, all of which must be texts. */
  readonly places: readonly string[];
}

interface Fact {
  /** null when the file did not exist. */
  readonly version: string | null;
  readonly affirms: boolean;
}

/** Reads files when the configuration or a file changes, so that requests for the graph do not have to wait. */
export class FileAnswers {
  readonly #host: Host;
  readonly #facts = new Map<string, Fact>();
  #looking: Promise<boolean> | undefined;

  constructor(host: Host) {
    this.#host = host;
  }

  /** Names of the processes whose file says that they need another; a file that cannot be read does not. */
  async affirmed(entries: readonly GraphEntry[]): Promise<ReadonlySet<string>> {
    await this.#looking;
    const asked = this.#asked(entries);
    await this.#look(asked.filter(({ file }) => !this.#facts.has(file)));
    return new Set(asked.flatMap(({ file, processName }) => (this.#facts.get(file)?.affirms ? [processName] : [])));
  }

  asks(processName: string): boolean {
    return this.#configured().some(asked => asked.processName === processName);
  }

  /** Resolves with whether the answer of any file has changed. */
  look(): Promise<boolean> {
    this.#looking = this.#look(this.#configured());
    return this.#looking;
  }

  async #look(asked: readonly Asked[]): Promise<boolean> {
    const versions = await versionsOf(asked.map(({ file }) => file));
    const changes = await Promise.all(asked.map(one => this.#read(one, versions.get(one.file))));
    return changes.includes(true);
  }

  /** While a file does not answer, its last known answer counts. */
  async #read({ file, processName, places }: Asked, version: string | null | undefined): Promise<boolean> {
    const known = this.#facts.get(file);
    if (known !== undefined && (version === undefined || known.version === version)) return false;
    const values = version == null ? undefined : await this.#valuesOf(processName);
    const affirms = places.every(place => hasText(values, place));
    this.#facts.set(file, { version: version ?? null, affirms });
    return affirms !== (known?.affirms ?? false);
  }

  async #valuesOf(processName: string): Promise<Record<string, unknown> | undefined> {
    const block = this.#host.use('config.store').findBlock(processName);
    const values = block && this.#host.find('config.files')?.values(block);
    return values?.catch(() => undefined);
  }

  #configured(): Asked[] {
    const blocks = this.#host.find('process.supervisor')?.blocks() ?? this.#host.use('config.store').blocks();
    return this.#asked(blocks.map(({ configKey: key, processName, block: config }) => ({ key, processName, config })));
  }

  /** The files to read: of enabled entries with a condition on a file that their block does not fulfil itself. */
  #asked(entries: readonly Pick<GraphEntry, 'key' | 'processName' | 'config'>[]): Asked[] {
    const templates = this.#host.find('service.templates');
    return entries.flatMap(({ key, processName, config }) => {
      const { enabled, config_file: file } = config;
      if (enabled !== true || typeof file !== 'string') return [];
      return (templates?.get(key)?.relations?.conditional ?? []).flatMap(({ when }) => {
        const places = typeof when === 'object' && 'option' in when && config[when.option] !== true ? when.inFile : [];
        return places === undefined || places.length === 0 ? [] : [{ file, processName, places }];
      });
    });
  }
}

function hasText(values: unknown, place: string): boolean {
  const found = valueAt(values, place.split('.'));
  return typeof found === 'string' && found !== '';
}

/** The version of each file; null when it does not exist, undefined when it does not answer. */
async function versionsOf(files: readonly string[]): Promise<ReadonlyMap<string, string | null | undefined>> {
  const look = async (some: readonly string[]): Promise<[string, string | null][]> => {
    const found = await fileVersions(some, CHECK_LIMIT_MS);
    return some.map(file => [file, found.get(file) ?? null]);
  };
  try {
    return new Map(await look(files));
  } catch {
    // One file is on a dead mount, so each file is examined by itself.
    const single = (file: string) => look([file]).catch(() => [[file, undefined] as const]);
    return new Map((await Promise.all(files.map(single))).flat());
  }
}
