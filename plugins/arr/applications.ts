// Finds the key and the address of each application in its own file, and asks its API.
// Facts: wiki.servarr.com (config.xml), and the API descriptions of the projects: v1 of Lidarr and Prowlarr, v3 of the others.
import { createHash } from 'node:crypto';
import type { Host, NamedBlock } from '#core';
import type {} from '../config-files/contract.ts';
import type {} from '../service-templates/contract.ts';
import type { ArrApplications, ArrChange, ArrEntry, ArrInstance } from './contract.ts';
import { ensureEntry, type HandedOver } from './entries.ts';

const API_VERSIONS: Readonly<Record<string, string>> = {
  sonarr: 'v3',
  radarr: 'v3',
  whisparr: 'v3',
  lidarr: 'v1',
  prowlarr: 'v1',
};
const INDEXER_MANAGER = 'prowlarr';
const MAX_BYTES = 64 * 1024 * 1024;
const ANSWER_LIMIT_MS = 60_000;

export class Applications implements ArrApplications {
  readonly #host: Host;
  /** Of the fields that an entry was last given or found right with. */
  readonly #digests = new Map<string, string>();

  constructor(host: Host) {
    this.#host = host;
  }

  async managers(): Promise<readonly ArrInstance[]> {
    const found = await Promise.all(this.#enabled().map(block => this.#find(block)));
    return found.flatMap(instance => instance ?? []);
  }

  async linkedTo(key: string) {
    const templates = this.#host.use('service.templates');
    const linked = this.#enabled().filter(({ block }) => templates.linksOf(block).includes(key));
    const found = await Promise.all(linked.map(block => this.#find(block)));
    return {
      managers: found.flatMap(instance => instance ?? []),
      names: new Set(linked.map(block => `${block.configKey}:${block.key}`)),
    };
  }

  async of(block: NamedBlock): Promise<ArrInstance> {
    const found = await this.#find(block);
    if (found === undefined) throw new Error(`${block.processName} has no API key in its config_file`);
    return found;
  }

  slugOf({ configKey, key }: NamedBlock): string {
    return `${configKey}-${key}`
      .toLowerCase()
      .replaceAll(/[^a-z0-9_-]/g, '-')
      .replaceAll(/-+/g, '-');
  }

  #ensure(instance: ArrInstance, entry: ArrEntry): Promise<'added' | 'updated' | null> {
    return ensureEntry(entry, (path, change) => this.ask(instance, path, change), this.#handedOver(instance, entry));
  }

  async ensureAll(instance: ArrInstance, entries: readonly ArrEntry[], told: (change: string) => void): Promise<void> {
    const errors: Error[] = [];
    for (const entry of entries) {
      try {
        const done = await this.#ensure(instance, entry);
        if (done !== null) told(`${entry.name} was ${done} (${entry.list})`);
      } catch (error) {
        errors.push(error as Error);
      }
    }
    if (errors.length > 0) throw new AggregateError(errors, errors.map(({ message }) => message).join('; '));
  }

  /** Applications do not show the secrets they hold, so that one that changed here is known only from before. */
  #handedOver({ block }: ArrInstance, { list, name, fields }: ArrEntry): HandedOver {
    const key = JSON.stringify([block.processName, list, name]);
    const digest = createHash('sha256').update(JSON.stringify(fields)).digest('hex');
    const known = this.#digests.get(key);
    return {
      isOther: known !== undefined && known !== digest,
      done: () => this.#digests.set(key, digest),
    };
  }

  #enabled(): NamedBlock[] {
    const blocks = this.#host.use('config.store').blocks();
    return blocks.filter(
      ({ configKey, block }) =>
        block.enabled === true && configKey !== INDEXER_MANAGER && API_VERSIONS[configKey] !== undefined,
    );
  }

  async #find(block: NamedBlock): Promise<ArrInstance | undefined> {
    const { configKey: kind, key: name } = block;
    if (API_VERSIONS[kind] === undefined || !Number.isInteger(block.block.port)) return undefined;
    const file = this.#host.find('config.files')?.values(block);
    const settings = (await file?.catch(() => undefined))?.Config as Record<string, unknown> | undefined;
    const { ApiKey: apiKey, UrlBase: base } = settings ?? {};
    if (typeof apiKey !== 'string' || apiKey === '') return undefined;
    const prefix = typeof base === 'string' ? base.replace(/^\/*(?=.)/, '/').replace(/\/+$/, '') : '';
    const links = this.#host.use('service.templates').linksOf(block.block);
    return { block, kind, name, address: `http://127.0.0.1:${block.block.port}${prefix}`, apiKey, links };
  }

  async ask({ kind, address, apiKey, block }: ArrInstance, path: string, change?: ArrChange): Promise<unknown> {
    const answer = await this.#host.fetch(`${address}/api/${API_VERSIONS[kind]}/${path}`, {
      ...change,
      // Prowlarr describes some hundred indexers in one answer.
      maxBytes: MAX_BYTES,
      timeoutMs: ANSWER_LIMIT_MS,
      headers: { 'X-Api-Key': apiKey },
    });
    if (answer.status >= 200 && answer.status < 300) return answer.json();
    throw new Error(`${block.processName} answers ${answer.status} to ${path}${complaint(answer.text)}`);
  }
}

/** A refused change comes as a list of `{propertyName, errorMessage}`, other faults as `{message}`. */
function complaint(text: string): string {
  try {
    const body = JSON.parse(text) as { message?: unknown } | { errorMessage?: unknown }[];
    const messages = Array.isArray(body) ? body.map(({ errorMessage }) => errorMessage) : [body.message];
    const said = messages.filter(message => typeof message === 'string');
    return said.length > 0 ? `: ${said.join('; ')}` : '';
  } catch {
    return '';
  }
}
