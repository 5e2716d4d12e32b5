// What the graph knows of each block of the configuration: the few members that signals read and answers show.
import path from 'node:path';
import type { BlockMarks, NamedBlock } from '#core';
import { deepEqual } from '#kit/deep-equal';
import { deepFreeze } from '#kit/deep-freeze';
import { listedPath } from '#kit/mountinfo';
import type { ServiceTemplates } from '../services/contract.ts';
import type { GraphEntry } from './contract.ts';

type Values = Readonly<Record<string, unknown>>;

/**
 * The members of a wait that name services. Only these and the others in WAIT_MEMBERS are kept, because further ones
 * may hold credentials.
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
/** Members of waits whose texts are treated as addresses whatever their form. */
const ADDRESS_MEMBERS = new Set(['url', 'host']);
const ADDRESS = /:\s*[/\\]/;

export type MarksOf = (block: NamedBlock) => BlockMarks;

export interface EntriesOptions {
  readonly templates: ServiceTemplates | undefined;
  /** What the schemas say of the keys of a block. */
  readonly marksOf: MarksOf;
  /** Further keys that signals ask for. */
  readonly reads?: readonly string[];
}

interface Known {
  readonly place: string;
  readonly marks: BlockMarks;
  readonly entry: GraphEntry;
}

/**
 * The entries of blocks. A change of the configuration leaves most blocks the same objects, whose entries are kept from
 * one snapshot to the next.
 */
export class Entries {
  readonly #templates: ServiceTemplates | undefined;
  readonly #marksOf: MarksOf;
  readonly #asked: readonly string[];
  /** Keys that the templates or signals ask for. */
  readonly #reads: readonly string[];
  readonly #shown: readonly string[];
  readonly #known = new WeakMap<object, Known>();
  readonly #origins = new WeakMap<GraphEntry, { readonly block: Values; readonly marks: BlockMarks }>();

  constructor({ templates, marksOf, reads = [] }: EntriesOptions) {
    this.#templates = templates;
    this.#marksOf = marksOf;
    this.#asked = reads;
    const { shown = [], read: known = [] } = templates?.graphOptions() ?? {};
    this.#shown = shown;
    this.#reads = [...shown, ...known, ...reads];
  }

  isFor(templates: ServiceTemplates | undefined, reads: readonly string[]): boolean {
    return this.#templates === templates && deepEqual(this.#asked, reads);
  }

  of(named: NamedBlock): GraphEntry {
    const place = named.path.join('\0');
    const marks = this.#marksOf(named);
    const known = this.#known.get(named.block);
    // An alias in YAML can put one object at several places.
    if (known?.place === place && known.marks === marks) return known.entry;
    const entry = this.#create(named, marks.relations);
    this.#known.set(named.block, { place, marks, entry });
    this.#origins.set(entry, { block: named.block, marks });
    return entry;
  }

  /** The whole block of an entry; its kept members for an entry that this object has not made. */
  blockOf(entry: GraphEntry): Values {
    return this.#origins.get(entry)?.block ?? entry.config;
  }

  /** The members of an entry that answers show. */
  shown(entry: GraphEntry): Record<string, unknown> {
    const relations = this.#origins.get(entry)?.marks.relations;
    const isShown = (key: string): boolean => this.#shown.includes(key) || (relations?.get(key) ?? 'read') !== 'read';
    return Object.fromEntries(Object.entries(entry.config).filter(([key]) => isShown(key)));
  }

  #create(named: NamedBlock, relations: BlockMarks['relations']): GraphEntry {
    const { processName, configKey, path: place, key: instance, block } = named;
    const key = this.#templates?.get(configKey)?.key ?? configKey.toLowerCase();
    return deepFreeze({
      processName,
      key,
      instance: place.includes('instances') ? instance : key,
      enabled: block.enabled === true,
      config: reduce(block, relations, this.#reads),
      ports: portsOf(block, relations),
      readMounts: mountPointsOf(block),
      coreRefs: [...(this.#templates?.linksOf(block) ?? [])].sort(),
    });
  }
}

function reduce(block: Values, relations: BlockMarks['relations'], reads: readonly string[]): Values {
  const known = [...new Set([...relations.keys(), ...reads])].filter(key => block[key] !== undefined);
  return Object.fromEntries(
    known.map(key => {
      const relation = relations.get(key);
      const isWait = relation === 'wait' || relation === 'address';
      return [key, isWait ? withoutCredentials(block[key], relation === 'address') : block[key]];
    }),
  );
}

/** Keeps members that name services, and addresses without user information, query and fragment. */
function withoutCredentials(wait: unknown, isAddress: boolean): unknown {
  if (Array.isArray(wait)) return wait.map(entry => withoutCredentials(entry, isAddress));
  if (typeof wait === 'string') return isAddress || ADDRESS.test(wait) ? bareAddress(wait) : wait;
  if (typeof wait !== 'object' || wait === null) return wait;
  const known = Object.entries(wait).filter(([key]) => WAIT_MEMBERS.has(key));
  return Object.fromEntries(known.map(([key, value]) => [key, withoutCredentials(value, ADDRESS_MEMBERS.has(key))]));
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

function portsOf(block: Values, relations: BlockMarks['relations']): number[] {
  const all = [...relations].flatMap(([key, relation]) => (relation === 'port' ? [block[key]].flat() : []));
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
  const normal = listedPath(place);
  return normal === '/' ? undefined : normal;
}
