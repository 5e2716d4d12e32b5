// The loaded providers, which are found by any of their names.
import path from 'node:path';
import { type ContributionList, type Host, Problem } from '#core';
import type { AiProvider, ProviderDescriptor } from '../contract.ts';
import { providerPoint } from '../points.ts';

/** The names of provider plugins begin with this, by which plugins that could not be loaded are recognised. */
const FOLDER_PREFIX = 'ai-';
const MAX_LISTED_REASON = 300;

export interface FoundProvider {
  readonly provider: AiProvider;
  readonly descriptor: ProviderDescriptor;
  /** The name that is stored. */
  readonly spelling: string;
  /** The neutral name for the stored one. */
  readonly token: string;
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

  /** Declares the point. */
  constructor(host: Host) {
    this.#host = host;
    this.#list = host.point('ai.provider', { ...providerPoint, flags: value => flagsOf(value as AiProvider) });
  }

  find(spelling: string): FoundProvider | undefined {
    return this.#known().bySpelling.get(spelling.trim().toLowerCase());
  }

  /** Throws a Problem 400 that names the loaded providers. */
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
    return [...this.#known().bySpelling].flatMap(([name, found]) => (name === found.descriptor.value ? [found] : []));
  }

  /** Every name that is accepted, sorted. */
  spellings(): string[] {
    return [...this.#known().bySpelling.keys()].sort();
  }

  /** Providers whose plugin could not be loaded, or whose names belong to another provider. */
  unavailable(): UnavailableProvider[] {
    const failed = this.#host
      .plugins()
      .filter(({ name, state }) => name.startsWith(FOLDER_PREFIX) && (state === 'failed' || state === 'skipped'))
      .map(({ name, reason }) => ({
        value: name.slice(FOLDER_PREFIX.length).replaceAll('-', '_'),
        reason: (reason ?? 'it could not be loaded').slice(0, MAX_LISTED_REASON),
      }));
    return [...failed, ...this.#known().twice];
  }

  /** The providers by their names. Warns once about each provider that is left out. */
  #known(): Known {
    const bySpelling = new Map<string, FoundProvider & { readonly owner: string }>();
    const twice: UnavailableProvider[] = [];
    for (const { owner, provider } of this.#shippedFirst()) {
      const { descriptor } = provider;
      const { value, aliases = [], tokens = [] } = descriptor;
      const stored = [value, ...aliases];
      const names = namesOf(descriptor);
      const taken = names.find(name => bySpelling.has(name));
      if (taken !== undefined) {
        const reason = `${owner} uses the name '${taken}' of ${bySpelling.get(taken)?.owner}`;
        twice.push({ value, reason });
        if (!this.#told.has(reason)) this.#host.log.warn(`the AI provider ${value} is left out: ${reason}`);
        this.#told.add(reason);
        continue;
      }
      for (const name of names) {
        const spelling = tokens.includes(name) ? (stored[tokens.indexOf(name)] ?? value) : name;
        const token = tokens[stored.indexOf(spelling)] ?? tokens[0] ?? spelling;
        bySpelling.set(name, { owner, provider, descriptor, spelling, token });
      }
    }
    return { bySpelling, twice };
  }

  /** All providers, those that ship with the product first, so that no other plugin can take one of their names. */
  #shippedFirst(): Listed[] {
    const listed = [...this.#list].map(({ owner, value }) => ({ owner, provider: value }));
    const names = listed.flatMap(({ provider }) => namesOf(provider.descriptor));
    // The list of all plugins is costly while the host starts, so it is only read when names collide.
    if (new Set(names).size === names.length) return listed;
    const folders = new Map(this.#host.plugins().map(({ name, folder }) => [name, path.dirname(folder)]));
    const shipped = folders.get(this.#host.name);
    const rank = ({ owner }: Listed) => (folders.get(owner) === shipped ? 0 : 1);
    return listed.sort((a, b) => rank(a) - rank(b));
  }
}

function namesOf({ value, aliases = [], tokens = [] }: ProviderDescriptor): string[] {
  // A neutral name may equal an alias of the same provider.
  return [...new Set([value, ...aliases, ...tokens])];
}

function flagsOf({ descriptor }: AiProvider): Record<string, boolean> {
  return { [`ai_provider_${descriptor.value}`]: true, ...descriptor.capabilities };
}
