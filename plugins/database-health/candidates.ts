// Which services in use keep databases, and where: as contributions for a service say, otherwise as its template says.
import type { Host, NamedBlock } from '#core';
import { contributedValues } from '#kit/contributed-values';
import type {} from '../process/contract.ts';
import type { ServiceTemplate } from '../services/contract.ts';
import type { DatabaseProbe, DatabaseStore } from './contract.ts';
import { StoreTexts } from './store-texts.ts';

export interface Candidate {
  /** `<config key>`, or `<config key>:<instance>`. */
  readonly id: string;
  readonly instanceName: string | null;
  readonly service: NamedBlock;
  readonly provider: string;
  /** The databases to look at, grouped by the probe for their kind; the group of the main database comes first. */
  readonly groups: readonly { readonly probe: DatabaseProbe; readonly stores: readonly DatabaseStore[] }[];
}

type Fact = NonNullable<ServiceTemplate['databases']>[number];
type EngineStore = DatabaseStore & { readonly engine: string; readonly provider?: string };

/** How long the places that plugins gave are used before they are asked again. */
const KEPT_MS = 30_000;
/** Less than a sample of metrics waits for a collector, so that a slow contribution does not make this plugin late. */
const SOON_MS = 500;

export class Candidates {
  readonly #host: Host;
  #found: readonly Candidate[] = [];
  #known:
    | { readonly blocks: unknown; readonly atMs: number; readonly found: Promise<readonly Candidate[]> }
    | undefined;

  constructor(host: Host) {
    this.#host = host;
  }

  /** Sorted by process name, ignoring case. */
  list(): Promise<readonly Candidate[]> {
    // A new array after each change of the configuration, and of what was started by hand.
    const blocks = this.#host.find('process.supervisor')?.blocks() ?? this.#host.use('config.store').blocks();
    const known = this.#known;
    if (known?.blocks === blocks && performance.now() - known.atMs < KEPT_MS) return known.found;
    const found = this.#find(blocks).then(candidates => {
      this.#found = candidates;
      return candidates;
    });
    this.#known = { blocks, atMs: performance.now(), found };
    return found;
  }

  /** Same as `list`, or the list found before when a contribution takes longer than half a second. */
  async soon(): Promise<readonly Candidate[]> {
    let timer: NodeJS.Timeout | undefined;
    const before = new Promise<readonly Candidate[]>(resolve => {
      timer = setTimeout(() => resolve(this.#found), SOON_MS);
    });
    try {
      return await Promise.race([this.list(), before]);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Config keys of services that keep databases of a known kind, whether they are configured or not; sorted. */
  serviceKeys(): string[] {
    const probes = this.#host.contributions('database.probe');
    const templates = this.#host.find('service.templates')?.list() ?? [];
    const fromTemplates = templates.filter(({ databases = [] }) =>
      databases.some(({ engine }) => probes.get(engine) !== undefined),
    );
    const told = [...this.#host.contributions('database.stores').values()].map(({ configKey }) => configKey);
    return [...new Set([...fromTemplates.map(({ key }) => key), ...told])].sort();
  }

  async #find(blocks: readonly NamedBlock[]): Promise<readonly Candidate[]> {
    const enabled = blocks.filter(({ isHost, block }) => !isHost && block.enabled === true);
    const found = (await Promise.all(enabled.map(service => this.#candidateOf(service)))).flat();
    const nameOf = ({ service }: Candidate): string => service.processName.toLowerCase();
    return found.sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
  }

  async #candidateOf(service: NamedBlock): Promise<Candidate[]> {
    const stores = (await this.#told(service)) ?? this.#fromTemplate(service);
    const byProbe = new Map<DatabaseProbe, DatabaseStore[]>();
    let provider: string | undefined;
    for (const store of stores) {
      const probe = this.#host.contributions('database.probe').get(store.engine)?.value;
      if (probe === undefined) continue;
      provider ??= store.provider ?? probe.provider;
      byProbe.set(probe, [...(byProbe.get(probe) ?? []), store]);
    }
    if (provider === undefined) return [];
    const { configKey, path: place } = service;
    const instanceName = place.at(-2) === 'instances' ? (place.at(-1) ?? null) : null;
    const id = instanceName === null ? configKey : `${configKey}:${instanceName}`;
    const groups = [...byProbe].map(([probe, own]) => ({ probe, stores: own }));
    return [{ id, instanceName, service, provider, groups }];
  }

  async #told(service: NamedBlock): Promise<readonly EngineStore[] | undefined> {
    for (const { configKey, stores } of this.#host.contributions('database.stores').values()) {
      if (configKey !== service.configKey) continue;
      try {
        const told = await stores(service);
        if (told !== undefined) return told;
      } catch {
        // The host has logged this fault of the contribution; the template still knows the usual places.
      }
    }
    return undefined;
  }

  #fromTemplate(service: NamedBlock): EngineStore[] {
    const facts = this.#host.find('service.templates')?.get(service.configKey)?.databases ?? [];
    const texts = new StoreTexts(service, () =>
      contributedValues(this.#host.contributions('process.placeholders'), service),
    );
    const applying = facts.filter(fact => isConditional(fact) && isSelected(fact, texts));
    // A database whose condition applies replaces the usual one of the same role.
    const roles = new Set(applying.map(({ role }) => role));
    const usual = facts.filter(fact => !isConditional(fact) && !roles.has(fact.role));
    return [...applying, ...usual].map(fact => storeOf(fact, texts));
  }
}

function isConditional({ when, uses = [] }: Fact): boolean {
  return when !== undefined || uses.length > 0;
}

function isSelected({ when, uses = [] }: Fact, texts: StoreTexts): boolean {
  return [...(when === undefined ? [] : [when]), ...uses].some(condition => texts.isSet(condition));
}

function storeOf(fact: Fact, texts: StoreTexts): EngineStore {
  const { engine, role = 'main', provider, file, places = [], below, name, passive } = fact;
  const files = [...places, ...(file === undefined ? [] : [file])].flatMap(text => texts.place(text) ?? []);
  const directory = below === undefined ? undefined : texts.place(below);
  const connection = Object.entries(fact.connection ?? {}).flatMap(([key, text]) => {
    const value = texts.fill(text);
    return value === undefined ? [] : [[key, value]];
  });
  return {
    engine,
    role,
    ...(provider === undefined ? {} : { provider }),
    ...(files.length === 0 ? {} : { files: [...new Set(files)] }),
    ...(directory === undefined ? {} : { below: directory }),
    ...(name === undefined ? {} : { name }),
    ...(passive === undefined ? {} : { passive }),
    ...(connection.length === 0 ? {} : { connection: Object.fromEntries(connection) as Record<string, string> }),
  };
}
