// Secrets that no answer ever holds: read as blank with a flag beside them, and kept when they come back blank.
import { isObject } from '#kit/plain-object';

type Values = Record<string, unknown>;

interface Rule {
  /** Path of the object, or of the list of objects, that holds the secrets. */
  readonly at: readonly string[];
  /** For a list: what tells its members apart. */
  readonly identity?: string;
  readonly secrets: Readonly<Record<string, '' | Readonly<Values>>>;
}

const RULES: readonly Rule[] = [
  { at: ['dumb', 'ai'], secrets: { api_key: '' } },
  { at: ['dumb', 'ai', 'profiles'], identity: 'id', secrets: { api_key: '' } },
  { at: ['dumb', 'media_protection', 'services'], identity: 'process_name', secrets: { api_key: '' } },
  { at: ['dumb', 'notifications', 'destinations'], identity: 'id', secrets: { url: '', headers: {} } },
];

/** The configuration without them; the same object when it has none. */
export function withoutSecrets(root: Readonly<Values>): Readonly<Values> {
  return RULES.reduce<Readonly<Values>>((result, { at, secrets }) => {
    const found = valueAt(result, at);
    if (Array.isArray(found))
      return replaceAt(
        result,
        at,
        found.map(member => hide(member, secrets)),
      ) as Values;
    return isObject(found) ? (replaceAt(result, at, hide(found, secrets)) as Values) : result;
  }, root);
}

/** The update with what it left blank filled in from what is stored, and without the flags of an answer. */
export function withStoredSecrets(updates: Readonly<Values>, stored: Readonly<Values>): Values {
  return RULES.reduce<Values>(
    (result, { at, identity, secrets }) => {
      const sent = valueAt(result, at);
      const kept = valueAt(stored, at);
      if (Array.isArray(sent)) {
        const known = Array.isArray(kept) ? kept.filter(isObject) : [];
        const restored = sent.map(member =>
          isObject(member)
            ? restore(
                member,
                known.find(other => isSame(member, other, identity)),
                secrets,
              )
            : member,
        );
        return replaceAt(result, at, restored) as Values;
      }
      if (!isObject(sent)) return result;
      return replaceAt(result, at, restore(sent, isObject(kept) ? kept : undefined, secrets)) as Values;
    },
    { ...updates },
  );
}

function isSame(one: Values, other: Values, identity = 'id'): boolean {
  return one[identity] !== undefined && one[identity] === other[identity];
}

function hide(value: unknown, secrets: Rule['secrets']): unknown {
  if (!isObject(value)) return value;
  const hidden: Values = { ...value };
  for (const [key, blank] of Object.entries(secrets)) {
    hidden[`${key}_configured`] = !isBlank(value[key]);
    hidden[key] = blank;
  }
  return hidden;
}

function restore(sent: Values, stored: Values | undefined, secrets: Rule['secrets']): Values {
  const restored: Values = { ...sent };
  for (const key of Object.keys(secrets)) {
    delete restored[`${key}_configured`];
    if (!(key in sent) || !isBlank(sent[key])) continue;
    if (stored?.[key] === undefined) delete restored[key];
    else restored[key] = stored[key];
  }
  return restored;
}

function isBlank(value: unknown): boolean {
  return value === undefined || value === null || value === '' || (isObject(value) && Object.keys(value).length === 0);
}

function valueAt(root: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((value, key) => (isObject(value) ? value[key] : undefined), root);
}

function replaceAt(root: unknown, [key, ...rest]: readonly string[], value: unknown): unknown {
  if (key === undefined) return value;
  const object = isObject(root) ? root : {};
  return { ...object, [key]: replaceAt(object[key], rest, value) };
}
