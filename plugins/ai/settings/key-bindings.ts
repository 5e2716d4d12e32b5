// Binds each stored key to the origin for which it was entered, so that whoever may change the address cannot have the
// key sent elsewhere.
import { createHash } from 'node:crypto';
import type { ConfigObject, Host } from '#core';
import { isObject } from '#kit/plain-object';
import type { ProviderRecord } from '../providers/provider-record.ts';
import type { Providers } from '../providers/providers.ts';
import { originOf } from '../providers/target-url.ts';
import { readSettings, SECTION_PATH } from './settings.ts';

/** The origin of a key that was entered while the address was not usable. */
const NOWHERE = 'none';
const FINGERPRINT_LENGTH = 16;

type KeyRecord = Pick<ProviderRecord, 'provider' | 'base_url' | 'api_key' | 'api_key_origin'>;

export class KeyBindings {
  readonly #host: Host;
  readonly #providers: Providers;
  /** Origins by fingerprint and profile, from which the origin stored beside a key can be repaired. */
  readonly #known = new Map<string, string>();

  constructor(host: Host, providers: Providers) {
    this.#host = host;
    this.#providers = providers;
  }

  /** The text that is stored beside a key just entered for this record: its origin and the key's fingerprint. */
  bind(record: Pick<ProviderRecord, 'provider' | 'base_url'>, key: string): string {
    return key === '' ? '' : `${this.#originOf(record)} ${fingerprint(key)}`;
  }

  /** The origin to which the stored key may be sent; undefined when there is no key. `id` is the id of the profile. */
  originFor(record: KeyRecord, id: string): string | undefined {
    if (record.api_key === '') return undefined;
    return boundOrigin(record) ?? this.#known.get(placeOf(record, id)) ?? this.#originOf(record);
  }

  /**
   * Binds keys that were not stored through the settings to the present origins of their records, and with `persist`
   * stores this beside them. A key that is bound already keeps its origin.
   */
  async adopt({ persist }: { readonly persist: boolean }): Promise<void> {
    if (Object.keys(this.#adopted()).length === 0 || !persist) return;
    const config = this.#host.use('config.store');
    await config.update({ updates: () => this.#adopted(), persist: true, actor: this.#host.name });
  }

  /** Binds keys in memory. Gives what is to be stored; the list of profiles is stored whole. */
  #adopted(): ConfigObject {
    const config = this.#host.use('config.store');
    const { profiles } = readSettings(config);
    const section = config.get(SECTION_PATH);
    if (!isObject(section)) return {};
    const updates: Record<string, unknown> = {};
    const top = topRecord(section);
    if (this.#adopts(top, '')) updates.api_key_origin = this.#companion(top, '');
    const unbound = profiles.filter(profile => this.#adopts(profile, profile.id)).map(({ id }) => id);
    if (unbound.length > 0 && Array.isArray(section.profiles))
      updates.profiles = section.profiles.map(entry => {
        const profile = profiles.find(({ id }) => isObject(entry) && entry.id === id && unbound.includes(id));
        return profile === undefined ? entry : { ...entry, api_key_origin: this.#companion(profile, profile.id) };
      });
    return Object.keys(updates).length === 0 ? {} : { dumb: { ai: updates } };
  }

  #adopts(record: KeyRecord, id: string): boolean {
    if (record.api_key === '') return false;
    const place = placeOf(record, id);
    const bound = boundOrigin(record);
    if (bound !== undefined || !this.#known.has(place)) this.#known.set(place, bound ?? this.#originOf(record));
    return bound === undefined;
  }

  #companion(record: KeyRecord, id: string): string {
    return `${this.#known.get(placeOf(record, id))} ${fingerprint(record.api_key)}`;
  }

  #originOf({ provider, base_url: url }: Pick<ProviderRecord, 'provider' | 'base_url'>): string {
    const found = this.#providers.find(provider);
    return (found === undefined ? undefined : originOf(found.descriptor, url)) ?? NOWHERE;
  }
}

function topRecord(section: Readonly<Record<string, unknown>>): KeyRecord {
  const text = (key: string) => (typeof section[key] === 'string' ? section[key] : '');
  return {
    provider: text('provider'),
    base_url: text('base_url'),
    api_key: text('api_key'),
    api_key_origin: text('api_key_origin'),
  };
}

/** undefined when the text stored beside the key belongs to another key, or is missing. */
function boundOrigin({ api_key: key, api_key_origin: bound }: KeyRecord): string | undefined {
  const [origin = '', print = ''] = bound.split(' ');
  return print === fingerprint(key) ? origin : undefined;
}

/** Identifies a key, so that the origin stored beside it is only valid if it was written by a holder of the key. */
function fingerprint(key: string): string {
  return createHash('sha256').update(key).digest('hex').slice(0, FINGERPRINT_LENGTH);
}

function placeOf({ api_key: key }: KeyRecord, id: string): string {
  return `${fingerprint(key)} ${id}`;
}
