// Which services keep their data in a database server by their own file, although their block does not say so.
import { stat } from 'node:fs/promises';
import type { Host } from '#core';
import type {} from '../config-files/contract.ts';
import type { GraphEntry } from '../dependency-graph/contract.ts';

const LOOK_LIMIT_MS = 1_000;
const NAMES = ['PostgresHost', 'PostgresMainDb', 'PostgresLogDb'];

export class PostgresFiles {
  readonly #host: Host;
  /** What was read, with the age and size of the file it was read from; undefined for one that was not there. */
  readonly #known = new Map<string, { readonly version: string | undefined; readonly uses: boolean }>();

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
    return known !== undefined && known.version !== (await versionOf(String(file)));
  }

  async #uses({ processName, config }: GraphEntry): Promise<boolean> {
    const { config_file: file } = config;
    const files = this.#host.find('config.files');
    const block = this.#host.use('config.store').findBlock(processName);
    if (typeof file !== 'string' || files === undefined || block === undefined) return false;
    const version = await versionOf(file);
    const known = this.#known.get(file);
    if (known !== undefined && known.version === version) return known.uses;
    const values = version === undefined ? undefined : await files.values(block).catch(() => undefined);
    const settings = values?.Config as Record<string, unknown> | undefined;
    const uses = NAMES.every(name => typeof settings?.[name] === 'string' && settings[name] !== '');
    this.#known.set(file, { version, uses });
    return uses;
  }
}

/** undefined for a file that is not there, or that lies on a mount that does not answer. */
async function versionOf(file: string): Promise<string | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>(resolve => {
    timer = setTimeout(() => resolve(undefined), LOOK_LIMIT_MS);
  });
  try {
    const found = await Promise.race([stat(file).catch(() => undefined), late]);
    return found === undefined ? undefined : `${found.mtimeMs}:${found.size}`;
  } finally {
    clearTimeout(timer);
  }
}
