// Masks the values of names that tell a secret, in all the notations in which programs write them.
import { ACCOUNT_PRODUCTS, FACTS, MASK, OPAQUE_KEY, PLAIN_WORDS, PROVIDERS } from './redaction-words.ts';
import { at, endAt } from './sticky-match.ts';

const JOINTS = ['', ' ', '_', '-'];

/** Names of secrets that end longer names of any form, such as `dbpassword`. */
const STRONG_NAME = 'pass(?:word|wd|phrase|code)|api[ _-]?key|secret(?:[ _-]?(?:access[ _-]?)?key)?';
/** The words that stand before `key` in the names of secrets. */
const KEYS =
  'access account admin auth consumer debrid deploy encryption encrypt hmac jwt license master pass private rss security session sentry signing sign storage stream tunnel webhook'.split(
    ' ',
  );
/** Names of identities of servers, devices and people. */
const IDENTITIES = [
  'machine_?identifier',
  'client[_-]?identifier',
  'device_?id',
  'server_?(?:uu)?id',
  `(?:${ACCOUNT_PRODUCTS})[ _-]?(?:user(?:name)?|account)`,
];
const IDENTITY = new RegExp(`^(?:${IDENTITIES.join('|')})$`, 'i');
/** Which names tell what is masked: those of credentials, or those of identities too. */
export type SecretNames = 'credentials' | 'all';

/** Names of secrets that stand alone, or end a longer name as a word of its own, such as `rc-pass` and `userPass`. */
const WEAK_NAMES = [
  `(?:access|auth|bearer|bot|id|refresh|session|${ACCOUNT_PRODUCTS})?token`,
  `(?:${KEYS.join('|')})[ _-]?key`,
  'credential',
  'creds',
  'pass',
  'pwd',
  'jwt',
  'dsn',
  't?otp',
  'j?session[_-]?id',
  'phpsessid',
  '[_-]auth(?![ _-]?key)',
  '[_-]cookies?',
  'bearer',
  'claim',
  '[_-]key',
  '(?<![\\w.-])key(?==[A-Za-z\\d])',
  'ntfy[ _-]?topic',
  `(?:${PROVIDERS})(?==)`,
  ...IDENTITIES,
];
const NAME = new RegExp(`(${STRONG_NAME})|${WEAK_NAMES.join('|')}`, 'gi');
/** Every name that NAME matches holds one of these words. */
export const NAME_WORDS = [
  ...[
    'token',
    'secret',
    'pass',
    'cred',
    'pwd',
    'jwt',
    'dsn',
    'otp',
    'bearer',
    'claim',
    '_auth',
    '-auth',
    '_cookie',
    '-cookie',
    '_key',
    '-key',
    'key=',
  ],
  ...JOINTS.map(joint => `ntfy${joint}topic`),
  ...['api', ...KEYS].flatMap(kind => [`${kind}key`, `${kind} key`]),
  ...['sessionid', 'session_id', 'session-id', 'phpsessid', 'deviceid', 'device_id'],
  ...['machineidentifier', 'machine_identifier', 'clientidentifier', 'client_identifier', 'client-identifier'],
  ...['serverid', 'server_id', 'serveruuid', 'server_uuid'],
  ...FACTS.debridProviders.map(provider => `${provider}=`),
  ...FACTS.personalAccounts.flatMap(product =>
    JOINTS.flatMap(joint => [`${product}${joint}user`, `${product}${joint}account`]),
  ),
];

/** What stands between a name and its value. The number of blanks is limited, so that no blank is looked at often. */
const SEPARATOR =
  /s?(?:[ _-]?(?:hash|value))?(\\{0,8}["'`])?\]?(?:[ \t]{0,8}(:=|=>|[:=])[ \t]{0,8}|%3[ad]|[ \t]{1,8}value[ \t]{0,8}=[ \t]{0,8}|<\/key>[ \t]{0,8}<string>)/iy;
/** What stands between an option of a command line and its value. */
const AFTER_OPTION = /\\{0,8}["'],[ \t]{0,8}(?=\\{0,8}["'])|[ \t]{1,8}(?![ \t-])/y;
/** What stands before the end of a long name that is an option, or an element. */
const OPTION = /(?<=(?<![^\s"'[(])--?(?!-?no-)[\w-]{0,64})/y;
const OPEN_TAG = /(?<=<[\w.:-]{0,64})/y;
const REST_OF_TAG = /(?:[ \t]{1,8}[\w.:-]{1,64}=(?:"[^"<>]{0,256}"|'[^'<>]{0,256}')){0,8}[ \t]{0,8}>/y;
/** `PASSWORD 'value'` in statements of databases. */
const BEFORE_QUOTE = /[ \t]{1,8}(?=')/y;
/** `"name": "apiKey", "label": "API Key", "value": "..."`, as in lists of settings. */
const BEFORE_ENTRY_NAME = /(?<=["'][\w.-]{0,64})/y;
const AFTER_ENTRY_NAME =
  /\\{0,8}["'][ \t]{0,8},[^{}[\]\r\n]{0,128}?(?:["']|(?<=,[ \t]{0,8}))value\\{0,8}["']?[ \t]{0,8}:[ \t]{0,8}(?=\\{0,8}["'])/y;
/** `["apiKey", "..."]`, as programs print pairs. Two names are a list of names. */
const BEFORE_FIRST_OF_PAIR = /(?<=[[(][ \t]{0,8}[bu]?\\{0,8}["'][\w.-]{0,64})/y;
const AFTER_FIRST_OF_PAIR =
  /\\{0,8}["'],[ \t]{0,8}[bu]?(?=(\\{0,8}["'])(?![A-Za-z]+(?:[_-][A-Za-z]+)*\1)(?:(?!\1)(?:\\.|[^\\\r\n])){1,256}\1[ \t]{0,8}[\])])/y;
/** What stands before and behind a name, in notations where its value follows in another place. */
const SURROUNDINGS = [
  [OPTION, AFTER_OPTION],
  [BEFORE_ENTRY_NAME, AFTER_ENTRY_NAME],
  [BEFORE_FIRST_OF_PAIR, AFTER_FIRST_OF_PAIR],
] as const;
/** What stands around a value in the notations of some languages, as in `Some("value")`. */
const WRAPPING = /[A-Za-z]\w{0,31}\((?=\\{0,8}["'`])/y;
const OPENING_QUOTE = /(\\{0,8})(["'`])/y;
const BARE_VALUE = /[^\s,;&"'`}\])<>]+/y;
const END_OF_QUOTE = { '"': /(?:[^"\\]|\\.)*"/sy, "'": /(?:[^'\\]|\\.)*'/sy, '`': /(?:[^`\\]|\\.)*`/sy };
const ELEMENT_TEXT = /<!\[CDATA\[(?:(?!\]\]>).)+(?:\]\]>)?|[^<]+/sy;
/** The key of a provider in the path of an address, which goes on behind the key. */
const PATH_PART = /[^\s,;&"'`}\])<>/|]+/y;
/**
 * The part of a value that tells whether it is one. Its length is limited, so that a text of many names is not looked
 * at often.
 */
const VALUE_HEAD = /[^\s,;&"'`}\])<>]{1,64}/y;
const PROVIDER_NAME = new RegExp(`^(?:${PROVIDERS})$`, 'i');
const MIN_GENERIC_KEY_LENGTH = 12;
/** `$NAME` and `${NAME}` tell where a credential comes from, and a path tells which file holds a key. */
const REFERENCE = /["'`]?(?:\$\{[A-Za-z_]\w{0,127}\}|\$[A-Z_][A-Z\d_]{0,127}(?![\w$]))/y;
const KEY_FILE = /["'`]?(?:~|\.{1,2})?(?:\/[\w.-]{1,255}){1,32}\.[A-Za-z]{2,5}(?![^\s,;"'`])/y;

export function redactNamed(text: string, names: SecretNames): string {
  let result = '';
  let done = 0;
  NAME.lastIndex = 0;
  for (let match = NAME.exec(text); match !== null; match = NAME.exec(text)) {
    const from = valueStart(text, match);
    const isMeant = from >= 0 && (names === 'all' || isCredential(text, from, match[0]));
    const to = isMeant ? valueEnd(text, from, match[0]) : -1;
    if (to < 0) continue;
    result += text.slice(done, from) + MASK;
    done = to;
    NAME.lastIndex = to;
  }
  return done === 0 ? text : result + text.slice(done);
}

function isCredential(text: string, from: number, name: string): boolean {
  if (IDENTITY.test(name) || at(REFERENCE, text, from) !== null) return false;
  return !/key$/i.test(name) || at(KEY_FILE, text, from) === null;
}

/** Where the value of a name begins; negative when the match names no secret, or has no value. */
function valueStart(text: string, { 0: name, 1: strong, index }: RegExpExecArray): number {
  const continues = /[a-z]/.test(name.charAt(0)) && /[A-Za-z0-9]/.test(text.charAt(index - 1));
  if (continues && strong === undefined) return -1;
  const end = index + name.length;
  const separator = at(SEPARATOR, text, end);
  if (separator !== null) return isAmbiguous(text, index, name, separator) ? -1 : SEPARATOR.lastIndex;
  if (at(REST_OF_TAG, text, end) !== null) return at(OPEN_TAG, text, index) === null ? -1 : REST_OF_TAG.lastIndex;
  for (const [before, after] of SURROUNDINGS)
    if (at(after, text, end) !== null && at(before, text, index) !== null) return after.lastIndex;
  return /^pass/i.test(name) && at(BEFORE_QUOTE, text, end) !== null ? BEFORE_QUOTE.lastIndex : -1;
}

/** Whether the name means a secret in other notations only, but not in `pass: 12` or `basic_auth: on`. */
function isAmbiguous(text: string, index: number, name: string, [, quote, sign]: RegExpExecArray): boolean {
  const isAssigned = quote !== undefined || sign === '=' || sign === undefined;
  if (/auth$/i.test(name)) return !isAssigned;
  const standsAlone = !/[\w-]/.test(text.charAt(index - 1));
  return standsAlone && /^(?:pass|claim|t?otp)$/i.test(name) && !isAssigned;
}

/**
 * Where a value ends; negative when it is no secret, or is masked already. A quote that is not closed lasts to the end.
 */
function valueEnd(text: string, from: number, name: string): number {
  if (text.startsWith(MASK, from)) return -1;
  if (text.charAt(from - 1) === '>' && text.charAt(from - 2) !== '=') return endAt(ELEMENT_TEXT, text, from);
  if (at(WRAPPING, text, from) !== null) {
    const end = valueEnd(text, WRAPPING.lastIndex, name);
    return end < 0 || text.charAt(end) !== ')' ? end : end + 1;
  }
  const [, escapes = '', quote] = at(OPENING_QUOTE, text, from) ?? [];
  if (quote !== undefined) {
    if (isWorkingDirectory(name, text.charAt(from + escapes.length + 1))) return -1;
    return endOfQuote(text, from, escapes, quote as keyof typeof END_OF_QUOTE);
  }
  switch (text.charAt(from)) {
    case '[':
      return endOfList(text, from);
    case '{':
      return -1;
    default:
      return endOfBareValue(text, from, name);
  }
}

function endOfList(text: string, from: number): number {
  const close = text.indexOf(']', from);
  return close < 0 ? text.length : close + 1;
}

function endOfBareValue(text: string, from: number, name: string): number {
  const headEnd = endAt(VALUE_HEAD, text, from);
  if (headEnd < 0) return -1;
  const isPathPart = PROVIDER_NAME.test(name);
  const whole = text.slice(from, headEnd);
  const head = isPathPart ? (whole.split(/[/|]/, 1)[0] ?? '') : whole;
  // A value that is no secret is not looked at to its end: many names before it may share that end.
  return isPlain(head, name) ? -1 : endAt(isPathPart ? PATH_PART : BARE_VALUE, text, from);
}

function endOfQuote(text: string, from: number, escapes: string, quote: keyof typeof END_OF_QUOTE): number {
  const start = from + escapes.length + 1;
  const isMasked = text.startsWith(MASK, start) && text.startsWith(escapes + quote, start + MASK.length);
  if (isMasked || text.startsWith(escapes + quote, start)) return -1;
  if (escapes === '') {
    const end = endAt(END_OF_QUOTE[quote], text, start);
    return end < 0 ? text.length : end;
  }
  const close = text.indexOf(escapes + quote, start);
  return close < 0 ? text.length : close + escapes.length + 1;
}

/** Whether a value without quotes is a word of a sentence, a number of something, or a path. */
function isPlain(value: string, name: string): boolean {
  if (!/[A-Za-z0-9]/.test(value) || PLAIN_WORDS.has(value.replace(/[.:!?]$/, '').toLowerCase())) return true;
  if (/^key$/i.test(name)) return !OPAQUE_KEY.test(value);
  if (/^[_-]key$/i.test(name) || PROVIDER_NAME.test(name))
    return value.length < MIN_GENERIC_KEY_LENGTH || !/\d/.test(value);
  if (isWorkingDirectory(name, value.charAt(0))) return true;
  const isCount = /^\d{1,9}%?$/.test(value);
  if (/^pass$/i.test(name)) return isCount && value.length < 4;
  return isCount && /token$/i.test(name);
}

/** Shells call the working directory `PWD`, which in other programs is a password. */
function isWorkingDirectory(name: string, firstOfValue: string): boolean {
  return /^pwd$/i.test(name) && (firstOfValue === '/' || firstOfValue === '~');
}
