// Finds the API key and address of each application in its own file, and calls its API. Sources: wiki.servarr.com
// (config.xml), and the API descriptions of the projects.
import { createHash } from 'node:crypto';
import type { Host, NamedBlock } from '#core';
import type {} from '../config-files/contract.ts';
import type {} from '../process/contract.ts';
import type {} from '../services/contract.ts';
import type { ArrApplications, ArrChange, ArrEntry, ArrInstance } from './contract.ts';
import { ensureEntry } from './entries.ts';
import { type ArrFacts, managersOf } from './facts.ts';
import type { HandedOver } from './handed-over.ts';

const MAX_BYTES = 64 * 1024 * 1024;
const ANSWER_LIMIT_MS = 60_000;
const MAX_COMPLAINT_LENGTH = 64 * 1024;
const MAX_TOLD_LENGTH = 1_000;
const DIGEST_CHARACTERS = 12;

interface ApplicationsOptions {
  readonly handedOver: HandedOver;
  /** Facts of the applications, by config key. */
  readonly family: ReadonlyMap<string, ArrFacts>;
}

export class Applications implements ArrApplications {
  readonly #host: Host;
  readonly #handedOver: HandedOver;
  readonly #family: ReadonlyMap<string, ArrFacts>;
  readonly kinds: readonly string[];

  constructor(host: Host, { handedOver, family }: ApplicationsOptions) {
    this.#host = host;
    this.#handedOver = handedOver;
    this.#family = family;
    this.kinds = managersOf(family);
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

  /** Of several that would have the same one, the first has it, and the others have a digest of their names behind. */
  slugOf(block: NamedBlock): string {
    const slug = plainSlug(block);
    const { configKey, key } = block;
    const first = this.#host
      .use('config.store')
      .blocks()
      .find(other => other.configKey === configKey && plainSlug(other) === slug);
    if (first === undefined || first.key === key) return slug;
    const digest = createHash('sha256').update(key).digest('hex').slice(0, DIGEST_CHARACTERS);
    return `${slug.replace(/-$/, '')}-${digest}`;
  }

  async given({ processName }: NamedBlock, managers: readonly ArrInstance[]): Promise<void> {
    for (const { kind, name, address, apiKey } of managers)
      await this.#handedOver.note([processName, kind, name], [address, apiKey]);
  }

  async renew(target: NamedBlock, managers: readonly ArrInstance[], told: (change: string) => void): Promise<void> {
    const { processName } = target;
    const others: string[] = [];
    for (const { block, kind, name, address, apiKey } of managers) {
      const isKnown = await this.#handedOver.matches([processName, kind, name], [address, apiKey]);
      if (isKnown !== true) others.push(block.processName);
    }
    if (others.length === 0) return;
    // Recorded before the restart, so that an application that fails to start is not restarted again for the same
    // reason.
    await this.given(target, managers);
    const supervisor = this.#host.find('process.supervisor');
    // An application that was stopped meanwhile reads the managers at its next start.
    if (supervisor?.get(processName)?.status !== 'running') return;
    told(`it is started again to learn of ${others.join(', ')}`);
    await supervisor
      .restart(processName, 'restart')
      .catch((error: unknown) => this.#host.log.error(`${processName} did not start again`, error));
  }

  async #ensure(instance: ArrInstance, entry: ArrEntry): Promise<'added' | 'updated' | null> {
    const names = [instance.block.processName, entry.list, entry.name];
    const isOther = (await this.#handedOver.matches(names, entry.fields)) === false;
    const done = await ensureEntry(entry, (path, change) => this.ask(instance, path, change), isOther);
    await this.#handedOver.note(names, entry.fields);
    return done;
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

  #enabled(): NamedBlock[] {
    const blocks = this.#host.find('process.supervisor')?.blocks() ?? this.#host.use('config.store').blocks();
    return blocks.filter(({ configKey, block }) => block.enabled === true && this.kinds.includes(configKey));
  }

  async #find(block: NamedBlock): Promise<ArrInstance | undefined> {
    const { configKey: kind, key: name } = block;
    const facts = this.#family.get(kind);
    if (facts === undefined || !Number.isInteger(block.block.port)) return undefined;
    const file = this.#host.find('config.files')?.values(block);
    const settings = (await file?.catch(() => undefined))?.Config as Record<string, unknown> | undefined;
    const { ApiKey: apiKey, UrlBase: base } = settings ?? {};
    if (typeof apiKey !== 'string' || apiKey === '') return undefined;
    const prefix = typeof base === 'string' ? base.replace(/^\/*(?=.)/, '/').replace(/(?<!\/)\/+$/, '') : '';
    const links = this.#host.use('service.templates').linksOf(block.block);
    return { block, kind, facts, name, address: `http://127.0.0.1:${block.block.port}${prefix}`, apiKey, links };
  }

  async ask({ facts, address, apiKey, block }: ArrInstance, path: string, change?: ArrChange): Promise<unknown> {
    const answer = await this.#host.fetch(`${address}/api/${facts.api}/${path}`, {
      ...change,
      // An indexer manager describes about a hundred indexers in one answer.
      maxBytes: MAX_BYTES,
      timeoutMs: ANSWER_LIMIT_MS,
      headers: { 'X-Api-Key': apiKey },
    });
    if (answer.status >= 200 && answer.status < 300) return answer.json();
    throw new Error(`${block.processName} answers ${answer.status} to ${path}${complaint(answer.text)}`);
  }
}

function plainSlug({ configKey, key }: NamedBlock): string {
  return `${configKey}-${key}`
    .toLowerCase()
    .replaceAll(/[^a-z0-9_-]/g, '-')
    .replaceAll(/-+/g, '-');
}

/**
 * The message in an answer: of a refused change a list of `{propertyName, errorMessage}`, of another error `{message}`.
 * Empty when the answer is longer than such messages are.
 */
function complaint(text: string): string {
  if (text.length > MAX_COMPLAINT_LENGTH) return '';
  try {
    const body = JSON.parse(text) as { message?: unknown } | { errorMessage?: unknown }[];
    const messages = Array.isArray(body) ? body.map(({ errorMessage }) => errorMessage) : [body.message];
    const said = messages.filter(message => typeof message === 'string');
    return said.length > 0 ? `: ${said.join('; ').slice(0, MAX_TOLD_LENGTH)}` : '';
  } catch {
    return '';
  }
}
