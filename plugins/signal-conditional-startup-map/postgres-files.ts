// Which services keep their data in a database server by their own file, although their block does not say so.
import { fileVersion, type Host } from '#core';
import type {} from '../config-files/contract.ts';
import type { GraphEntry } from '../dependency-graph/contract.ts';

const LOOK_LIMIT_MS = 1_000;
const NAMES = ['PostgresHost', 'PostgresMainDb', 'PostgresLogDb'];

export class PostgresFiles {
  readonly #host: Host;
  /** What was read, with the version of the file it was read from; null for one that was not there. */
  readonly #known = new Map<string, { readonly version: string | null; readonly uses: boolean }>();

  constructor(host: Host) {
    this.#host = host;
  }

  /** Names of the processes; a file that cannot be read counts as none. */
  async users(entries: readonly GraphEntry[]): Promise<ReadonlySet<string>> {
    const asked = entries.filter(({ enabled, config }) => enabled && config.postgres_enabled !== true);
    const answers = await Promise.all(asked.map(async entry => ((await this.#uses(entry)) ? [entry.processName] : [])));
    return new Set(answers.flat());
  }

  /** Whether the file of a process is another than the one that was asked about. */
  async changed(processName: string): Promise<boolean> {
    const file = this.#host.use('config.store').findBlock(processName)?.block.config_file;
    const known = typeof file === 'string' ? this.#known.get(file) : undefined;
    const version = known === undefined ? undefined : await versionOf(String(file));
    return version !== undefined && version !== known?.version;
  }

  /** Of a file that does not answer the last that was known counts. */
  async #uses({ processName, config }: GraphEntry): Promise<boolean> {
    const { config_file: file } = config;
    const files = this.#host.find('config.files');
    const block = this.#host.use('config.store').findBlock(processName);
    if (typeof file !== 'string' || files === undefined || block === undefined) return false;
    const version = await versionOf(file);
    const known = this.#known.get(file);
    if (version === undefined || known?.version === version) return known?.uses ?? false;
    const values = version === null ? undefined : await files.values(block).catch(() => undefined);
    const settings = values?.Config as Record<string, unknown> | undefined;
    const uses = NAMES.every(name => typeof settings?.[name] === 'string' && settings[name] !== '');
    this.#known.set(file, { version, uses });
    return uses;
  }
}

/** null: there is none; undefined: it does not answer. */
function versionOf(file: string): Promise<string | null | undefined> {
  return fileVersion(file, LOOK_LIMIT_MS).catch(() => undefined);
}
