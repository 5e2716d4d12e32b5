// Which services keep their data in a database server by their own file, although their block does not say so.

import type { Host } from '#core';
import { fileVersions } from '#kit/fs-out-of-process';
import type {} from '../config-files/contract.ts';
import type { GraphEntry } from '../dependency-graph/contract.ts';
import type {} from '../service-templates/contract.ts';

const LOOK_LIMIT_MS = 1_000;
const NAMES = ['PostgresHost', 'PostgresMainDb', 'PostgresLogDb'];

interface Asked {
  readonly file: string;
  readonly processName: string;
}

interface Fact {
  /** null: it was not there. */
  readonly version: string | null;
  readonly uses: boolean;
}

/** Looks when the configuration or a file changes, so that a question about the graph finds it done. */
export class PostgresFiles {
  readonly #host: Host;
  readonly #facts = new Map<string, Fact>();
  #looking: Promise<boolean> | undefined;

  constructor(host: Host) {
    this.#host = host;
  }

  /** Names of the processes; a file that cannot be read counts as none. */
  async users(entries: readonly GraphEntry[]): Promise<ReadonlySet<string>> {
    await this.#looking;
    const asked = this.#asked(entries);
    await this.#look(asked.filter(({ file }) => !this.#facts.has(file)));
    return new Set(asked.flatMap(({ file, processName }) => (this.#facts.get(file)?.uses ? [processName] : [])));
  }

  asks(processName: string): boolean {
    return this.#configured().some(asked => asked.processName === processName);
  }

  /** Whether an answer about one of them is another than before. */
  look(): Promise<boolean> {
    this.#looking = this.#look(this.#configured());
    return this.#looking;
  }

  async #look(asked: readonly Asked[]): Promise<boolean> {
    const versions = await versionsOf(asked.map(({ file }) => file));
    const changes = await Promise.all(asked.map(one => this.#read(one, versions.get(one.file))));
    return changes.includes(true);
  }

  /** Of a file that does not answer the last that was known counts. */
  async #read({ file, processName }: Asked, version: string | null | undefined): Promise<boolean> {
    const known = this.#facts.get(file);
    if (known !== undefined && (version === undefined || known.version === version)) return false;
    const values = version == null ? undefined : await this.#valuesOf(processName);
    const settings = values?.Config as Record<string, unknown> | undefined;
    const uses = NAMES.every(name => typeof settings?.[name] === 'string' && settings[name] !== '');
    this.#facts.set(file, { version: version ?? null, uses });
    return uses !== (known?.uses ?? false);
  }

  async #valuesOf(processName: string): Promise<Record<string, unknown> | undefined> {
    const block = this.#host.use('config.store').findBlock(processName);
    const values = block && this.#host.find('config.files')?.values(block);
    return values?.catch(() => undefined);
  }

  #configured(): Asked[] {
    const blocks = this.#host.use('config.store').blocks();
    return this.#asked(blocks.map(({ configKey: key, processName, block: config }) => ({ key, processName, config })));
  }

  /** Enabled ones whose kind has such a file and whose block leaves the question open. */
  #asked(entries: readonly Pick<GraphEntry, 'key' | 'processName' | 'config'>[]): Asked[] {
    const templates = this.#host.find('service.templates');
    return entries.flatMap(({ key, processName, config }) => {
      const { enabled, postgres_enabled: says, config_file: file } = config;
      const conditions = templates?.get(key)?.relations?.conditional ?? [];
      const isAsked = conditions.some(({ when }) => when === 'postgres-enabled-or-in-file');
      return isAsked && enabled === true && says !== true && typeof file === 'string' ? [{ file, processName }] : [];
    });
  }
}

/** null: there is none; undefined: it does not answer. */
async function versionsOf(files: readonly string[]): Promise<ReadonlyMap<string, string | null | undefined>> {
  const look = async (some: readonly string[]): Promise<[string, string | null][]> => {
    const found = await fileVersions(some, LOOK_LIMIT_MS);
    return some.map(file => [file, found.get(file) ?? null]);
  };
  try {
    return new Map(await look(files));
  } catch {
    // One of them lies on a mount that is dead: the others are looked at by themselves.
    const single = (file: string) => look([file]).catch(() => [[file, undefined] as const]);
    return new Map((await Promise.all(files.map(single))).flat());
  }
}
