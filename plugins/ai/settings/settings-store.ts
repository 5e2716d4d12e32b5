// Saves settings and profiles, one save after the other, each based on what is stored at its turn.
import { randomUUID } from 'node:crypto';
import { type ConfigUpdateResult, type Host, Problem } from '#core';
import { deepEqual } from '#kit/deep-equal';
import { isObject } from '#kit/plain-object';
import { PRINTABLE, PRINTABLE_WORDS } from '#kit/printable';
import { WorkQueue } from '#kit/work-queue';
import type { ChangeWatch } from '../ledger/change-watch.ts';
import type { CallRecord } from '../providers/provider-calls.ts';
import { checkKey, DEFAULT_RECORD, PROVIDER_FIELDS, type ProviderRecord } from '../providers/provider-record.ts';
import type { Providers } from '../providers/providers.ts';
import { changedRecord } from './changed-record.ts';
import type { KeyBindings } from './key-bindings.ts';
import {
  type AiSettings,
  comparisonOf,
  MAX_PROFILES,
  type ProfileRecord,
  readSettings,
  SECTION_PATH,
} from './settings.ts';
import type { ProfileChange, ProviderChange, SettingsChange } from './settings-wire.ts';

const MAX_NAME_LENGTH = 80;

/** Saved values that are not in force, and warnings. */
export type SaveOutcome = Pick<ConfigUpdateResult, 'overridden' | 'warnings'>;

/** The kind of a save, as the history of changes names it. */
export type SaveSource = 'ai_settings' | `ai_provider_profile_${'save' | 'activate' | 'delete'}`;

export class SettingsStore {
  readonly #host: Host;
  readonly #providers: Providers;
  readonly #bindings: KeyBindings;
  readonly #changes: ChangeWatch;
  readonly #queue = new WorkQueue({ concurrency: 1 });

  constructor(
    host: Host,
    { providers, bindings, changes }: { providers: Providers; bindings: KeyBindings; changes: ChangeWatch },
  ) {
    this.#host = host;
    this.#providers = providers;
    this.#bindings = bindings;
    this.#changes = changes;
  }

  read(): AiSettings {
    return readSettings(this.#host.use('config.store'));
  }

  /** The record in use with this change, for one call. A blank key counts as not typed. */
  callRecord({ api_key: typed = '', ...change }: ProviderChange = {}): CallRecord {
    const { record, activeProfileId } = this.read();
    const isTyped = typed.trim() !== '';
    const merged = this.#merged(record, isTyped ? { ...change, api_key: typed } : change);
    return { ...merged, keyOrigin: isTyped ? undefined : this.#bindings.originFor(record, activeProfileId) };
  }

  /** Members that are not given keep their values; when another profile becomes active, they get its values. */
  save(change: SettingsChange, actor: string): Promise<SaveOutcome> {
    return this.#change('ai_settings', actor, stored => {
      const { active_profile_id: wanted = stored.activeProfileId, enabled = stored.enabled, ...rest } = change;
      const target = stored.profiles.find(({ id }) => id === wanted);
      const base = target === undefined || target.id === stored.activeProfileId ? stored.record : recordOf(target);
      const record = this.#merged(base, rest);
      const { comparison_mode: mode, ...evidence } = rest;
      return {
        enabled,
        record,
        evidence: {
          ...stored.evidence,
          ...Object.fromEntries(
            Object.entries(evidence).filter(([key, value]) => key in stored.evidence && value !== undefined),
          ),
          comparison_mode: mode === undefined ? stored.evidence.comparison_mode : comparisonOf(mode),
        },
        activeProfileId: target?.id ?? '',
        profiles: stored.profiles.map(profile => (profile.id === target?.id ? { ...profile, ...record } : profile)),
      };
    });
  }

  /** The saved profile is active afterwards. Throws a Problem 404 for an id that is not stored. */
  saveProfile({ id: given = '', name: givenName, ...change }: ProfileChange, actor: string): Promise<SaveOutcome> {
    return this.#change('ai_provider_profile_save', actor, stored => {
      const id = given.trim();
      const earlier = stored.profiles.find(profile => profile.id === id);
      if (id !== '' && earlier === undefined) throw unknownProfile(id);
      if (id === '' && stored.profiles.length >= MAX_PROFILES)
        throw new Problem(400, `There are ${MAX_PROFILES} profiles, which is the most; delete one first`);
      const name = freeName(givenName, id, stored.profiles);
      // A blank key is one that was not typed.
      const { api_key: key, ...others } = change;
      const typed = key === undefined || key.trim() === '' ? others : change;
      const record = earlier === undefined ? this.#created(typed, stored) : this.#merged(recordOf(earlier), typed);
      const profile = { id: earlier?.id ?? randomUUID(), name, ...record };
      const profiles =
        earlier === undefined
          ? [...stored.profiles, profile]
          : stored.profiles.map(other => (other === earlier ? profile : other));
      return { ...stored, record, activeProfileId: profile.id, profiles };
    });
  }

  activate(id: string, actor: string): Promise<SaveOutcome> {
    return this.#change('ai_provider_profile_activate', actor, stored => {
      const profile = stored.profiles.find(candidate => candidate.id === id);
      if (profile === undefined) throw unknownProfile(id);
      return { ...stored, record: recordOf(profile), activeProfileId: id };
    });
  }

  /** If the removed profile was active, the first of the others becomes active, or without others the defaults. */
  remove(id: string, actor: string): Promise<SaveOutcome> {
    return this.#change('ai_provider_profile_delete', actor, stored => {
      const profiles = stored.profiles.filter(profile => profile.id !== id);
      if (profiles.length === stored.profiles.length) throw unknownProfile(id);
      if (stored.activeProfileId !== id) return { ...stored, profiles };
      const [next] = profiles;
      const record = next === undefined ? DEFAULT_RECORD : recordOf(next);
      return { ...stored, record, activeProfileId: next?.id ?? '', profiles };
    });
  }

  /**
   * The record of a new profile. It takes over the key of the section's own record if both are for the same provider
   * and origin.
   */
  #created(change: ProviderChange, stored: AiSettings): ProviderRecord {
    this.#providers.require(change.provider ?? '');
    const record = this.#merged({ ...DEFAULT_RECORD, base_url: '' }, change);
    const { record: unsaved, activeProfileId } = stored;
    if (record.api_key !== '' || unsaved.api_key === '' || activeProfileId !== '') return record;
    const isSameFamily =
      this.#providers.find(record.provider)?.descriptor.value ===
      this.#providers.find(unsaved.provider)?.descriptor.value;
    const adopted = { ...record, api_key: unsaved.api_key };
    const companion = this.#bindings.bind(record, unsaved.api_key);
    const isSamePlace = companion.split(' ')[0] === this.#bindings.originFor(unsaved, '');
    return isSameFamily && isSamePlace ? { ...adopted, api_key_origin: companion } : record;
  }

  /** The record with this change. Throws a Problem 400 that names the field. */
  #merged(base: ProviderRecord, change: ProviderChange): ProviderRecord {
    const isSame = change.provider === undefined || change.provider.trim().toLowerCase() === base.provider;
    // A stored provider stays, even while its plugin is not loaded.
    const found = isSame ? this.#providers.find(base.provider) : this.#providers.require(change.provider ?? '');
    const record = changedRecord(base, change, this.#providers.find(base.provider)?.descriptor, found);
    if (change.api_key === undefined) return record;
    const key = checkKey(change.api_key);
    return { ...record, api_key: key, api_key_origin: this.#bindings.bind(record, key) };
  }

  #change(source: SaveSource, actor: string, edit: (stored: AiSettings) => AiSettings): Promise<SaveOutcome> {
    const config = this.#host.use('config.store');
    // The list of profiles is saved whole, so it must be made of the present one.
    const updates = () => {
      const stored = this.read();
      const next = edit(stored);
      const given = config.get(SECTION_PATH);
      const section = isObject(given) ? given : {};
      const changed = changedMembers(section, {
        enabled: next.enabled,
        ...next.record,
        ...next.evidence,
        active_profile_id: next.activeProfileId,
        profiles: storedProfiles(section.profiles, stored.profiles, next.profiles),
      });
      return Object.keys(changed).length === 0 ? {} : { dumb: { ai: changed } };
    };
    return this.#queue.add(() => this.#changes.as(source, () => config.update({ updates, persist: true, actor })));
  }
}

function freeName(given: string, id: string, profiles: readonly ProfileRecord[]): string {
  const name = given.trim();
  if (name === '') throw new Problem(400, 'name is blank; give the profile a name');
  if (name.length > MAX_NAME_LENGTH) throw new Problem(400, `name is longer than ${MAX_NAME_LENGTH} characters`);
  if (!PRINTABLE.test(name)) throw new Problem(400, `name: ${PRINTABLE_WORDS}; choose another name`);
  const isTaken = profiles.some(profile => profile.id !== id && folded(profile.name) === folded(name));
  if (isTaken) throw new Problem(400, `name: another profile is called '${name}'; choose another name`);
  return name;
}

function folded(name: string): string {
  return name.trim().toLowerCase();
}

function unknownProfile(id: string): Problem {
  return new Problem(404, `There is no profile '${id.slice(0, 40)}'; load the settings again`);
}

function recordOf(profile: ProfileRecord): ProviderRecord {
  return Object.fromEntries(PROVIDER_FIELDS.map(field => [field, profile[field]])) as ProviderRecord;
}

/** The list to store. Entries of the file that are not in use, as those beyond the limit, stay with their keys. */
function storedProfiles(list: unknown, before: readonly ProfileRecord[], next: readonly ProfileRecord[]): unknown {
  if (deepEqual(before, next)) return list;
  const inUse = new Set(before.map(({ id }) => id));
  const left = new Map(next.map(profile => [profile.id, profile]));
  const kept = (Array.isArray(list) ? list : []).flatMap((entry: unknown) => {
    const id = isObject(entry) ? String(entry.id) : '';
    // Of several with the same id only the first is in use.
    if (!inUse.delete(id)) return [entry];
    const profile = left.get(id);
    left.delete(id);
    return profile === undefined ? [] : [storedProfile(profile)];
  });
  return [...kept, ...[...left.values()].map(storedProfile)];
}

/** Leaves out a blank key, because a blank secret in a list would mean the stored one. */
function storedProfile({ api_key: key, api_key_origin: origin, ...profile }: ProfileRecord): object {
  return key === '' ? profile : { ...profile, api_key: key, api_key_origin: origin };
}

/** The members to update. null removes a secret, because a blank one would mean the stored one. */
function changedMembers(
  stored: Readonly<Record<string, unknown>>,
  next: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(next).flatMap(([key, value]) => {
      const before = stored[key];
      if (deepEqual(before, value)) return [];
      if (value === '' && key.startsWith('api_key')) return before === undefined ? [] : [[key, null]];
      return [[key, key === 'provider_options' ? replaced(before, value) : value]];
    }),
  );
}

/** Objects are merged into the stored ones, so members that are gone are set to null. */
function replaced(before: unknown, value: unknown): unknown {
  if (!isObject(before) || !isObject(value)) return value;
  const gone = Object.keys(before).filter(key => !Object.hasOwn(value, key));
  return { ...value, ...Object.fromEntries(gone.map(key => [key, null])) };
}
