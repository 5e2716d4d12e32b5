// What the graph knows of each block of the configuration: the few members that signals read and answers show.
import path from 'node:path';
import type { NamedBlock } from '#core';
import { deepEqual } from '#kit/deep-equal';
import { deepFreeze } from '#kit/deep-freeze';
import type { ServiceTemplates } from '../services/contract.ts';
import type { GraphEntry } from './contract.ts';

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
const SHOWN_KEYS = [
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
const READ_KEYS = [...SHOWN_KEYS, 'depends_on', 'branch_enabled', 'commit_sha', 'config_file', 'config_dir'];
/**
 * The members of a wait that are kept, all of which name services or what is waited for; others may hold credentials.
 */
export const NAMING_KEYS = ['core_service', 'core_services', 'service', 'process_name'];
const WAIT_MEMBERS = new Set([
  ...NAMING_KEYS,
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
const WAIT_KEYS = ['wait_for_url', 'wait_for_dir', 'wait_for_tcp'];
/** Members whose texts are treated as addresses whatever their form. */
const ADDRESS_KEYS = new Set(['wait_for_url', 'url', 'host']);
const ADDRESS = /:\s*[/\\]/;

export function shownConfig({ config }: GraphEntry, templates: ServiceTemplates | undefined): Record<string, unknown> {
  const shown = new Set([...SHOWN_KEYS, ...(templates?.graphOptions().shown ?? [])]);
  return Object.fromEntries(Object.entries(config).filter(([key]) => shown.has(key)));
}

/**
 * The entries of blocks. A change of the configuration leaves most blocks the same objects, whose entries are kept from
 * one snapshot to the next.
 */
export class Entries {
  readonly #templates: ServiceTemplates | undefined;
  readonly #asked: readonly string[];
  readonly #reads: readonly string[];
  readonly #known = new WeakMap<object, { readonly place: string; readonly entry: GraphEntry }>();

  constructor(templates: ServiceTemplates | undefined, reads: readonly string[] = []) {
    this.#templates = templates;
    this.#asked = reads;
    const { shown = [], read: known = [] } = templates?.graphOptions() ?? {};
    this.#reads = [...READ_KEYS, ...shown, ...known, ...reads];
  }

  isFor(templates: ServiceTemplates | undefined, reads: readonly string[]): boolean {
    return this.#templates === templates && deepEqual(this.#asked, reads);
  }

  of(named: NamedBlock): GraphEntry {
    const place = named.path.join('\0');
    const known = this.#known.get(named.block);
    // An alias in YAML makes one object stand at several places.
    if (known?.place === place) return known.entry;
    const entry = this.#create(named);
    this.#known.set(named.block, { place, entry });
    return entry;
  }

  #create(named: NamedBlock): GraphEntry {
    const { processName, configKey, path: place, key: instance, block } = named;
    const key = this.#templates?.get(configKey)?.key ?? configKey.toLowerCase();
    return deepFreeze({
      processName,
      key,
      instance: place.includes('instances') ? instance : key,
      enabled: block.enabled === true,
      config: reduce(block, this.#reads),
      ports: portsOf(block),
      readMounts: mountPointsOf(block),
      coreRefs: [...(this.#templates?.linksOf(block) ?? [])].sort(),
    });
  }
}

function reduce(block: Values, reads: readonly string[]): Values {
  const known = reads.filter(key => block[key] !== undefined);
  return Object.fromEntries(
    known.map(key => [key, WAIT_KEYS.includes(key) ? withoutCredentials(block[key], key) : block[key]]),
  );
}

/** Keeps members that name services, and addresses without user information, query and fragment. */
function withoutCredentials(wait: unknown, member: string): unknown {
  if (Array.isArray(wait)) return wait.map(entry => withoutCredentials(entry, member));
  if (typeof wait === 'string') return ADDRESS.test(wait) || ADDRESS_KEYS.has(member) ? bareAddress(wait) : wait;
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
export function normalize(place: string): string | undefined {
  if (!path.isAbsolute(place)) return undefined;
  const normal = path.normalize(place).replace(/(?<=^\/|[^/])\/+$/, '');
  return normal === '/' ? undefined : normal;
}
