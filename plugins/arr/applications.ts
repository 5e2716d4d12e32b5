// Finds the key and the address of each application in its own file, and asks its API.
// Facts: wiki.servarr.com (config.xml), and the API descriptions of the projects: v1 of Lidarr and Prowlarr, v3 of the others.
import type { Host, NamedBlock } from '#core';
import type {} from '../config-files/contract.ts';
import type {} from '../service-templates/contract.ts';
import type { ArrApplications, ArrChange, ArrEntry, ArrInstance } from './contract.ts';
import { ensureEntry } from './entries.ts';

const API_VERSIONS: Readonly<Record<string, string>> = {
  sonarr: 'v3',
  radarr: 'v3',
  whisparr: 'v3',
  lidarr: 'v1',
  prowlarr: 'v1',
};
const INDEXER_MANAGER = 'prowlarr';

export class Applications implements ArrApplications {
  readonly #host: Host;

  constructor(host: Host) {
    this.#host = host;
  }

  async managers(): Promise<readonly ArrInstance[]> {
    const enabled = this.#host
      .use('config.store')
      .blocks()
      .filter(({ configKey, block }) => configKey !== INDEXER_MANAGER && block.enabled === true);
    const found = await Promise.all(enabled.map(block => this.#find(block)));
    return found.flatMap(instance => instance ?? []);
  }

  async of(block: NamedBlock): Promise<ArrInstance> {
    const found = await this.#find(block);
    if (found === undefined) throw new Error(`${block.processName} has no API key in its config_file`);
    return found;
  }

  slugOf({ configKey, key }: NamedBlock): string {
    return `${configKey}-${key}`.toLowerCase().replaceAll(/[^a-z0-9_-]+/g, '-');
  }

  ensure(instance: ArrInstance, entry: ArrEntry): Promise<'added' | 'updated' | null> {
    return ensureEntry(entry, (path, change) => this.ask(instance, path, change));
  }

  async #find(block: NamedBlock): Promise<ArrInstance | undefined> {
    const { configKey: kind, key: name } = block;
    if (API_VERSIONS[kind] === undefined) return undefined;
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
