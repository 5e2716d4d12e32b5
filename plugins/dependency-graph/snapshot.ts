// The entries of one revision of the configuration, indexed for the look-ups of signal sources.
import path from 'node:path';
import type { NamedBlock } from '#core';
import type { ServiceTemplates } from '../services/contract.ts';
import type { GraphEntry, GraphSnapshot } from './contract.ts';
import { type Entries, NAMING_KEYS, normalize } from './entries.ts';

type Values = Readonly<Record<string, unknown>>;

export interface SnapshotOptions {
  readonly revision: string;
  /** The named blocks, without their secrets. */
  readonly blocks: readonly NamedBlock[];
  readonly templates: ServiceTemplates | undefined;
  /** Process names by the names of the routes that serve their web interfaces. */
  readonly routes?: ReadonlyMap<string, string>;
  /** Makes the entries, or keeps those of earlier snapshots. */
  readonly entries: Entries;
}

export function createSnapshot(options: SnapshotOptions): GraphSnapshot {
  return new Snapshot(options);
}

class Snapshot implements GraphSnapshot {
  readonly revision: string;
  readonly entries: readonly GraphEntry[];
  readonly #known: Entries;
  readonly #templates: ServiceTemplates | undefined;
  readonly #byKey = new Map<string, GraphEntry[]>();
  readonly #byName = new Map<string, GraphEntry>();
  readonly #byRoute = new Map<string, GraphEntry>();
  readonly #byPort = new Map<number, GraphEntry[]>();
  readonly #byMount = new Map<string, GraphEntry[]>();

  constructor({ revision, blocks, templates, routes, entries }: SnapshotOptions) {
    this.revision = revision;
    this.#templates = templates;
    this.#known = entries;
    this.entries = Object.freeze(blocks.map(block => entries.of(block)));
    for (const entry of this.entries) {
      add(this.#byKey, entry.key, entry);
      const name = entry.processName.trim().toLowerCase();
      if (!this.#byName.has(name)) this.#byName.set(name, entry);
      const route = name.replaceAll(/[^a-z0-9_.-]/g, '_');
      if (!this.#byRoute.has(route)) this.#byRoute.set(route, entry);
      for (const port of entry.ports) add(this.#byPort, port, entry);
      for (const mount of entry.readMounts) add(this.#byMount, mount, entry);
    }
    for (const [route, processName] of routes ?? []) {
      const entry = this.#byName.get(processName.trim().toLowerCase());
      if (entry !== undefined) this.#byRoute.set(route, entry);
    }
    // Frozen, because third parties receive the same object.
    Object.freeze(this);
  }

  entriesOf(key: string): readonly GraphEntry[] {
    return this.#byKey.get(key) ?? [];
  }

  isScoped(key: string): boolean {
    const template = this.#templates?.get(key);
    return template?.kind === 'dependent' && template.instance !== undefined;
  }

  coreNeeds(entry: GraphEntry): readonly string[] {
    const template = this.#templates?.get(entry.key);
    return template === undefined ? [] : (this.#templates?.coreNeeds(template, this.#known.blockOf(entry)) ?? []);
  }

  softLinks(signal: string, { key }: GraphEntry): readonly GraphEntry[] {
    const soft = this.#templates?.get(key)?.relations?.soft ?? [];
    return soft
      .filter(link => link.signal === signal)
      .flatMap(({ linkedTo }) => linkedTo.flatMap(other => this.entriesOf(other)));
  }

  resolve(reference: string, from: GraphEntry): readonly GraphEntry[] {
    const wanted = reference.trim().toLowerCase();
    const key = this.#templates?.find(wanted)?.key ?? wanted;
    const ofKey = this.entriesOf(key);
    if (ofKey.length > 0) {
      if (!this.isScoped(key)) return ofKey;
      const cores = [from.key, ...from.coreRefs];
      const attached = ofKey.filter(entry => entry.coreRefs.some(core => cores.includes(core)));
      return attached.length > 0 || from.coreRefs.length > 0 ? attached : ofKey;
    }
    const named = this.#byName.get(wanted) ?? this.#byRoute.get(wanted);
    return named === undefined ? [] : [named];
  }

  namedBy(wait: Values, from: GraphEntry): readonly GraphEntry[] {
    return NAMING_KEYS.flatMap(key => wait[key])
      .flatMap(value => (typeof value === 'string' ? value.split(',') : []))
      .filter(name => name.trim() !== '')
      .flatMap(name => this.resolve(name, from));
  }

  listenersOn(port: number, from: GraphEntry): readonly GraphEntry[] {
    const all = (this.#byPort.get(port) ?? []).filter(entry => entry !== from);
    const enabled = all.filter(entry => entry.enabled);
    return enabled.length > 0 || all.length !== 1 ? enabled : all;
  }

  providersOf(wanted: string, from: GraphEntry): readonly GraphEntry[] {
    const place = normalize(wanted);
    if (place === undefined) return [];
    const isOther = (enabled: boolean) => (entry: GraphEntry) => entry !== from && entry.enabled === enabled;
    const enabled = this.#providers(place, isOther(true));
    return enabled.length > 0 ? enabled : this.#providers(place, isOther(false));
  }

  #providers(place: string, counts: (entry: GraphEntry) => boolean): GraphEntry[] {
    const at = (mount: string): GraphEntry[] => (this.#byMount.get(mount) ?? []).filter(counts);
    for (let above = place; above !== '/'; above = path.dirname(above)) {
      const found = at(above);
      if (found.length > 0) return found;
    }
    return [...this.#byMount.keys()].filter(mount => mount.startsWith(`${place}/`)).flatMap(at);
  }
}

function add<Key, Value>(map: Map<Key, Value[]>, key: Key, value: Value): void {
  const list = map.get(key);
  if (list === undefined) map.set(key, [value]);
  else list.push(value);
}
