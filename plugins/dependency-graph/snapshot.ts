// The entries of one revision of the configuration, indexed for the look-ups of signal sources.
import path from 'node:path';
import type { NamedBlock } from '#core';
import { deepFreeze } from '#kit/deep-freeze';
import type { ServiceTemplates } from '../services/contract.ts';
import type { GraphEntry, GraphSnapshot } from './contract.ts';

type Values = Readonly<Record<string, unknown>>;

const PORT_KEYS = [
  'port',
  'frontend_port',
  'backend_port',
  'web_port',
  'ui_port',
  'http_port',
  'https_port',
  'external_port',
];
/** Members that answers may show of any block; templates name more. */
const SHOWN = [
  'enabled',
  'core_service',
  'core_services',
  'wait_for_url',
  'wait_for_dir',
  'wait_for_mounts',
  'wait_for_tcp',
  ...PORT_KEYS,
  'ports',
  'mount_path',
  'mount_dir',
  'mount_name',
  'mount_type',
  'key_type',
];
/** Members that signals may read. */
const READ = [...SHOWN, 'branch_enabled', 'commit_sha', 'config_file', 'config_dir'];
/**
 * The members of a wait that are kept, all of which name services or what is waited for; others may hold credentials.
 */
const NAMING = ['core_service', 'core_services', 'service', 'process_name'];
const WAIT_MEMBERS = new Set([
  ...NAMING,
  'url',
  'path',
  'dir',
  'directory',
  'value',
  'name',
  'host',
  'port',
  'timeout',
]);
const WAITS = ['wait_for_url', 'wait_for_dir', 'wait_for_tcp'];
/** Members whose texts are treated as addresses whatever their form. */
const ADDRESSES = new Set(['wait_for_url', 'url', 'host']);
const ADDRESS = /:\s*[/\\]/;

export function shownConfig({ config }: GraphEntry, templates: ServiceTemplates | undefined): Record<string, unknown> {
  const shown = new Set([...SHOWN, ...(templates?.graphOptions().shown ?? [])]);
  return Object.fromEntries(Object.entries(config).filter(([key]) => shown.has(key)));
}

export interface SnapshotOptions {
  readonly revision: string;
  /** The named blocks, without their secrets. */
  readonly blocks: readonly NamedBlock[];
  readonly templates: ServiceTemplates | undefined;
  /** Process names by the names of the routes that serve their web interfaces. */
  readonly routes?: ReadonlyMap<string, string>;
  /** Further members of blocks that sources ask for. */
  readonly reads?: readonly string[];
}

export function createSnapshot(options: SnapshotOptions): GraphSnapshot {
  return new Snapshot(options);
}

class Snapshot implements GraphSnapshot {
  readonly revision: string;
  readonly entries: readonly GraphEntry[];
  readonly #templates: ServiceTemplates | undefined;
  readonly #byKey = new Map<string, GraphEntry[]>();
  readonly #byName = new Map<string, GraphEntry>();
  readonly #byRoute = new Map<string, GraphEntry>();
  readonly #byPort = new Map<number, GraphEntry[]>();
  readonly #byMount = new Map<string, GraphEntry[]>();

  constructor({ revision, blocks, templates, routes, reads = [] }: SnapshotOptions) {
    this.revision = revision;
    this.#templates = templates;
    const { shown = [], read: known = [] } = templates?.graphOptions() ?? {};
    const read = [...READ, ...shown, ...known, ...reads];
    this.entries = Object.freeze(blocks.map(block => this.#entry(block, read)));
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

  coreNeeds({ key, config }: GraphEntry): readonly string[] {
    const template = this.#templates?.get(key);
    return template === undefined ? [] : (this.#templates?.coreNeeds(template, config) ?? []);
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
    return NAMING.flatMap(key => wait[key])
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

  #entry(named: NamedBlock, reads: readonly string[]): GraphEntry {
    const { processName, configKey, path: place, key: instance, block } = named;
    const key = this.#templates?.get(configKey)?.key ?? configKey.toLowerCase();
    return deepFreeze({
      processName,
      key,
      instance: place.includes('instances') ? instance : key,
      enabled: block.enabled === true,
      config: reduce(block, reads),
      ports: portsOf(block),
      readMounts: mountPointsOf(block),
      coreRefs: [...(this.#templates?.linksOf(block) ?? [])].sort(),
    });
  }
}

function add<Key, Value>(map: Map<Key, Value[]>, key: Key, value: Value): void {
  const list = map.get(key);
  if (list === undefined) map.set(key, [value]);
  else list.push(value);
}

function reduce(block: Values, reads: readonly string[]): Values {
  const known = reads.filter(key => block[key] !== undefined);
  return Object.fromEntries(
    known.map(key => [key, WAITS.includes(key) ? withoutCredentials(block[key], key) : block[key]]),
  );
}

/** Keeps members that name services, and addresses without user information, query and fragment. */
function withoutCredentials(wait: unknown, member: string): unknown {
  if (Array.isArray(wait)) return wait.map(entry => withoutCredentials(entry, member));
  if (typeof wait === 'string') return ADDRESS.test(wait) || ADDRESSES.has(member) ? bareAddress(wait) : wait;
  if (typeof wait !== 'object' || wait === null) return wait;
  const known = Object.entries(wait).filter(([key]) => WAIT_MEMBERS.has(key));
  return Object.fromEntries(known.map(([key, value]) => [key, withoutCredentials(value, key)]));
}

/** Also handles invalid addresses, because a lenient parser finds the same parts in them. */
function bareAddress(text: string): string {
  const whole = text.trim().replaceAll(/[\t\r\n]/g, '');
  const [scheme = ''] = /^(?:[a-z][a-z0-9+.-]*:)?[/\\]*/i.exec(whole) ?? [];
  // In an invalid address a password may contain any character, so everything up to the last @ is removed.
  const start = URL.canParse(whole) ? scheme.length : Math.max(scheme.length, whole.lastIndexOf('@') + 1);
  const [rest = ''] = whole.slice(start).split(/[?#]/);
  const [authority = ''] = rest.split(/[/\\]/);
  return scheme + authority.slice(authority.lastIndexOf('@') + 1) + rest.slice(authority.length);
}

function portsOf(block: Values): number[] {
  const many = Array.isArray(block.ports) ? block.ports : [];
  const all = [...PORT_KEYS.map(key => block[key]), ...many];
  return [...new Set(all.filter((port): port is number => Number.isInteger(port) && Number(port) > 0))];
}

function mountPointsOf({ mount_type: type, mount_path: whole, mount_dir: dir, mount_name: name }: Values): string[] {
  if (type === 'none') return [];
  const joined =
    typeof dir === 'string' && typeof name === 'string' && dir !== '' && name !== '' ? `${dir}/${name}` : '';
  return [whole, joined].flatMap(place => (typeof place === 'string' ? (normalize(place) ?? []) : []));
}

/** undefined for the root and for a path that is not absolute. */
function normalize(place: string): string | undefined {
  if (!path.isAbsolute(place)) return undefined;
  const normal = path.normalize(place).replace(/(?<=.)\/+$/, '');
  return normal === '/' ? undefined : normal;
}
