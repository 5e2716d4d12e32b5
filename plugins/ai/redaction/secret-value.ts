// Masks secrets in data: members with the names of secrets, arguments of programs, JSON inside of texts, and secrets in
// all other texts. Masking masked data again changes nothing.
import { bareObject, isObject } from '#kit/plain-object';
import { MASK, redactText } from './secret-text.ts';

const PATH_MASK = '[PATH REDACTED]';

const MAX_DEPTH = 100;
/** Longer texts of JSON are not parsed, but masked as text. */
const MAX_JSON_CHARS = 64 * 1024;
const SECRET_WORDS = /api_?key|password|passwd|secret|token|cookie|authorization/;
/** Names of secrets that must be whole words within a longer name. */
const SECRET_SEGMENTS =
  /(?:^|_)(?:pass|pwd|passphrase|passcode|credentials?|creds|private_?key|claim|webhook|dsn|jwt|salt|otp|totp|connection_?string|database_url|session_key|debrid_key|auth_key|access_key|bearer)(?:_|$)/;
/** Members that end in `_key` but hold no secret. */
const NAME_KEYS = new Set([
  'config_key',
  'key_type',
  'sort_key',
  'primary_key',
  'partition_key',
  'public_key',
  'option_key',
]);
const MIN_KEY_CHARS = 12;
const COUNTER = /(?:^|_)tokens(?:_|$)|token_(?:count|limit|budget)/;
const PATH_KEYS = new Set([
  'path',
  'db_path',
  'config_dir',
  'data_dir',
  'mount_point',
  'connection_string',
  'database_url',
]);
/** The argument after one of these is a secret. */
const SECRET_OPTION = /^(?:-p|-?-[\w-]*(?:token|password|passwd|pass|secret|api-?key|private-key|credentials?))$/i;
/** Members that hold the name of an entry in a list of settings. */
const ENTRY_NAMES = ['name', 'key', 'option', 'variable'];

export interface RedactionOptions {
  /** Values to mask wherever they occur. */
  readonly known?: readonly string[];
  /** Whether paths of the file system are masked too, as for databases. */
  readonly hidePaths?: boolean;
}

/** A copy of plain data without secrets. Everything deeper than 100 levels is masked. */
export function redactValue<Value>(value: Value, options: RedactionOptions = {}): Value {
  return redactAt(value, options, 0) as Value;
}

function redactAt(value: unknown, options: RedactionOptions, depth: number): unknown {
  if (typeof value === 'string') return redactLeaf(value, options, depth);
  if (value === null || typeof value !== 'object') return value;
  if (depth >= MAX_DEPTH) return MASK;
  if (Array.isArray(value)) return redactList(value, options, depth);
  const secretEntry = isSecretEntry(value as Record<string, unknown>);
  const result = bareObject<unknown>();
  for (const [index, [name, member]] of Object.entries(value).entries()) {
    const text = redactText(name, options.known);
    // Two masked names would otherwise be the same member.
    const shown = text in result ? `${text} ${index + 1}` : text;
    const isSecretValue = secretEntry && name.toLowerCase() === 'value';
    result[shown] = isSecretValue ? masked(member) : redactMember(name, member, options, depth + 1);
  }
  return result;
}

function redactMember(name: string, member: unknown, options: RedactionOptions, depth: number): unknown {
  if (options.hidePaths === true && PATH_KEYS.has(wordsOf(name)) && isFilled(member)) return PATH_MASK;
  return isSecretMember(name, member) ? masked(member) : redactAt(member, options, depth);
}

/** Whether a member holds a secret, by its name and the kind of its value. */
export function isSecretMember(name: string, value: unknown): boolean {
  const words = wordsOf(name);
  if (COUNTER.test(words) && (typeof value === 'number' || /^\d{1,12}$/.test(String(value)))) return false;
  // Whether a secret is set is not secret.
  if (typeof value === 'boolean' && /(?:_configured|_required|_set)$/.test(words)) return false;
  // `PWD` is also the working directory of a shell.
  if (words === 'pwd' && typeof value === 'string' && /^[/~]/.test(value)) return false;
  if (SECRET_WORDS.test(words) || SECRET_SEGMENTS.test(words)) return true;
  const isLongText = typeof value === 'string' && value.length >= MIN_KEY_CHARS;
  return words.endsWith('_key') && isLongText && !NAME_KEYS.has(words);
}

/** All texts in members with the names of secrets. */
export function secretsOf(value: unknown): Set<string> {
  const found = new Set<string>();
  collect(value, false, found, 0);
  return found;
}

function collect(value: unknown, isSecret: boolean, found: Set<string>, depth: number): void {
  if (typeof value === 'string' && isSecret) found.add(value);
  if (value === null || typeof value !== 'object' || depth >= MAX_DEPTH) return;
  const entry = !Array.isArray(value) && isSecretEntry(value as Record<string, unknown>);
  for (const [name, member] of Object.entries(value)) {
    const isSecretHere = isSecretMember(name, member) || (entry && name.toLowerCase() === 'value');
    collect(member, isSecret || isSecretHere, found, depth + 1);
  }
}

/** Turns `apiKey`, `api-key` and `api.key` into `api_key`. */
function wordsOf(name: string): string {
  return name
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replaceAll(/[-. ]/g, '_')
    .toLowerCase();
}

/** Whether this is an entry of a list of settings that names a secret, such as `{name: 'apiKey', value: '...'}`. */
function isSecretEntry(value: Record<string, unknown>): boolean {
  return Object.entries(value).some(
    ([name, member]) =>
      ENTRY_NAMES.includes(name.toLowerCase()) && typeof member === 'string' && isSecretMember(member, value.value),
  );
}

function masked(value: unknown): unknown {
  return isFilled(value) ? MASK : value;
}

function isFilled(value: unknown): boolean {
  return value !== '' && value !== null && value !== undefined;
}

function redactList(list: readonly unknown[], options: RedactionOptions, depth: number): unknown[] {
  return list.map((item, index) => {
    const before = list[index - 1];
    if (typeof before === 'string' && typeof item === 'string' && SECRET_OPTION.test(before)) return masked(item);
    return redactAt(item, options, depth + 1);
  });
}

function redactLeaf(text: string, options: RedactionOptions, depth: number): string {
  if (/^\s{0,64}[{[]/.test(text) && text.length <= MAX_JSON_CHARS && text !== MASK) {
    try {
      const data: unknown = JSON.parse(text);
      const clean = isObject(data) || Array.isArray(data) ? redactAt(data, options, depth + 1) : data;
      return redactText(JSON.stringify(clean) === JSON.stringify(data) ? text : JSON.stringify(clean), options.known);
    } catch {
      // The text only begins like JSON.
    }
  }
  return redactText(text, options.known);
}
