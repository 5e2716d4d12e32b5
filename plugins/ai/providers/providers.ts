// The providers that are loaded, found by any of their spellings.
import path from 'node:path';
import { type ContributionList, type Host, Problem } from '#core';
import type { AiProvider, ProviderDescriptor } from '../contract.ts';
import { providerPoint } from '../points.ts';

/** Folders of providers begin so, which tells those that could not be loaded. */
const FOLDER_PREFIX = 'ai-';
const MAX_LISTED_REASON = 300;

export interface FoundProvider {
  readonly provider: AiProvider;
  readonly descriptor: ProviderDescriptor;
  /** As it is stored. */
  readonly spelling: string;
}

export interface UnavailableProvider {
  readonly value: string;
  readonly reason: string;
}

interface Known {
  readonly bySpelling: ReadonlyMap<string, FoundProvider>;
  readonly twice: readonly UnavailableProvider[];
}

interface Listed {
  readonly owner: string;
  readonly provider: AiProvider;
}

export class Providers {
  readonly #host: Host;
  readonly #list: ContributionList<AiProvider>;
  readonly #told = new Set<string>();
  readonly #flags = new Set<string>();
  #known: Known = { bySpelling: new Map(), twice: [] };

  /** Declares the point. */
  constructor(host: Host) {
    this.#host = host;
    this.#list = host.point('ai.provider', { ...providerPoint, changed: () => this.#refresh() });
    this.#refresh();
  }

  /** Takes note of providers that came or went. */
  #refresh(): void {
    this.#known = this.#read();
    for (const { value, reason } of this.#known.twice) {
      if (this.#told.has(reason)) continue;
      this.#told.add(reason);
      this.#host.log.warn(`the AI provider ${value} is left out: ${reason}`);
    }
    for (const [flag] of [...this.#known.bySpelling.values()].flatMap(flagsOf)) this.#declare(flag);
  }

  find(spelling: string): FoundProvider | undefined {
    return this.#known.bySpelling.get(spelling.trim().toLowerCase());
  }

  /** Throws a Problem 400 that names those that are loaded. */
  require(spelling: string): FoundProvider {
    const found = this.find(spelling);
    if (found !== undefined) return found;
    const values = this.loaded()
      .map(({ descriptor }) => descriptor.value)
      .sort();
    const choice = values.length === 0 ? 'no AI provider is loaded' : `choose one of ${values.join(', ')}`;
    throw new Problem(400, `provider is not available: '${spelling.trim().slice(0, 40)}'; ${choice}`);
  }

  loaded(): FoundProvider[] {
    return [...this.#known.bySpelling].flatMap(([name, found]) => (name === found.descriptor.value ? [found] : []));
  }

  /** Every spelling that is accepted, sorted. */
  spellings(): string[] {
    return [...this.#known.bySpelling.keys()].sort();
  }

  /** Those whose folder could not be loaded, or whose names belong to another one. */
  unavailable(): UnavailableProvider[] {
    const failed = this.#host
      .plugins()
      .filter(({ name, state }) => name.startsWith(FOLDER_PREFIX) && (state === 'failed' || state === 'skipped'))
      .map(({ name, reason }) => ({
        value: name.slice(FOLDER_PREFIX.length).replaceAll('-', '_'),
        reason: (reason ?? 'it could not be loaded').slice(0, MAX_LISTED_REASON),
      }));
    return [...failed, ...this.#known.twice];
  }

  #read(): Known {
    const bySpelling = new Map<string, FoundProvider & { readonly owner: string }>();
    const twice: UnavailableProvider[] = [];
    for (const { owner, provider } of this.#shippedFirst()) {
      const { descriptor } = provider;
      const { value, aliases = [], tokens = [] } = descriptor;
      const names = [value, ...aliases, ...tokens];
      const taken = names.find(name => bySpelling.has(name));
      if (taken !== undefined) {
        twice.push({ value, reason: `${owner} uses the name '${taken}' of ${bySpelling.get(taken)?.owner}` });
        continue;
      }
      for (const name of names) {
        const spelling = tokens.includes(name) ? value : name;
        bySpelling.set(name, { owner, provider, descriptor, spelling });
      }
    }
    return { bySpelling, twice };
  }

  /** No other folder can take the place of one that ships with the product. */
  #shippedFirst(): Listed[] {
    const listed = [...this.#list].map(({ owner, value }) => ({ owner, provider: value }));
    const folders = new Map(this.#host.plugins().map(({ name, folder }) => [name, path.dirname(folder)]));
    const shipped = folders.get(this.#host.name);
    const rank = ({ owner }: Listed) => (folders.get(owner) === shipped ? 0 : 1);
    return listed.sort((a, b) => rank(a) - rank(b));
  }

  #declare(flag: string): void {
    if (this.#flags.has(flag) || this.#host.signal.aborted) return;
    this.#flags.add(flag);
    const isSet = () =>
      [...this.#known.bySpelling.values()].flatMap(flagsOf).some(([name, value]) => name === flag && value);
    try {
      this.#host.capability(flag, isSet);
    } catch (error) {
      this.#host.log.warn(`the flag ${flag} of an AI provider is left out`, error);
    }
  }
}

function flagsOf({ descriptor }: FoundProvider): [flag: string, value: boolean][] {
  return [[`ai_provider_${descriptor.value}`, true], ...Object.entries(descriptor.capabilities ?? {})];
}
