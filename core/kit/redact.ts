// Masks secrets and personal data in text, in time linear in its length, because services may write any text. One look
// for the words of each rule tells which rules may find something; most texts need none.
import { readFileSync } from 'node:fs';
import { WordGroups } from './word-groups.ts';

const MASK = '[REDACTED]';

interface Facts {
  /** Products whose accounts are people, in lower case. */
  readonly personalAccounts: readonly string[];
  /** Behind whose names, in addresses and options, stands the key of an account. */
  readonly debridProviders: readonly string[];
}

/** Read once in each thread, when the module is loaded. */
const FACTS = JSON.parse(readFileSync(new URL('../../templates/redaction.json', import.meta.url), 'utf8')) as Facts;
const ACCOUNT_PRODUCTS = FACTS.personalAccounts.join('|');
const PROVIDERS = FACTS.debridProviders.join('|');
const JOINTS = ['', ' ', '_', '-'];

/** Names of members whose values are secret. */
const SECRET_KEY = /token|secret|password|passwd|api[_-]?keys?$|_key$|claim$|credential|^authorization$/i;

/** Whether a member of that name holds a secret. `config_key` looks like one, but names a service. */
export function isSecretKey(name: string): boolean {
  return name !== 'config_key' && SECRET_KEY.test(name);
}

/** Names of secrets that end longer names of any form, such as `dbpassword`. */
const STRONG_NAME = 'pass(?:word|wd|phrase|code)|api[ _-]?key|secret(?:[ _-]?(?:access[ _-]?)?key)?';
/** What stands before `key` in the names of secrets. */
const KEYS =
  'access account admin auth consumer debrid deploy encryption encrypt hmac jwt license master pass private rss security session sentry signing sign storage stream tunnel webhook'.split(
    ' ',
  );
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
  // Identities of servers, devices and people.
  'machine_?identifier',
  'client[_-]?identifier',
  'device_?id',
  'server_?(?:uu)?id',
  `(?:${ACCOUNT_PRODUCTS})[ _-]?(?:user(?:name)?|account)`,
];
const NAME = new RegExp(`(${STRONG_NAME})|${WEAK_NAMES.join('|')}`, 'gi');
/** Without one of these there is no such name. */
const NAME_WORDS = [
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

/** What stands between a name and its value. The number of blanks is limited, so that none is looked at often. */
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
/** What stands around a value in the notations of some languages, as in `Some("value")`. */
const WRAPPING = /[A-Za-z]\w{0,31}\((?=\\{0,8}["'`])/y;
const OPENING_QUOTE = /(\\{0,8})(["'`])/y;
const BARE_VALUE = /[^\s,;&"'`}\])<>]+/y;
const END_OF_QUOTE = { '"': /(?:[^"\\]|\\.)*"/sy, "'": /(?:[^'\\]|\\.)*'/sy, '`': /(?:[^`\\]|\\.)*`/sy };
const ELEMENT_TEXT = /<!\[CDATA\[(?:(?!\]\]>).)+(?:\]\]>)?|[^<]+/sy;
const DOMAIN = /(?:[A-Za-z0-9-]+\.)+[A-Za-z]{2,}\b/y;
/** The value of a provider in the path of an address, which goes on behind it. */
const PATH_PART = /[^\s,;&"'`}\])<>/|]+/y;
/** So much of a value is looked at to find that it is none, so that a text of names is not looked at often. */
const VALUE_HEAD = /[^\s,;&"'`}\])<>]{1,64}/y;
const PROVIDER_NAME = new RegExp(`^(?:${PROVIDERS})$`, 'i');
const MIN_GENERIC_KEY_LENGTH = 12;
/** What `key` alone stands before is mostly a name; a key of an account has no words. */
const OPAQUE_KEY = /^(?=[A-Za-z]*\d)(?=\d*[A-Za-z])(?:[A-Za-z\d]{16,}|[A-Fa-f\d-]{32,})$/;
const MAX_HEADER_NAME = 32;

/** Words that stand after a name in messages, and are no values. */
const PLAIN_WORDS = new Set(
  'a an and any are array at boolean both by cannot changed disabled does each empty enabled expected expired failed false for given has have here in invalid is it its keep kept missing more most must name names needs never nil no nobody none not nothing null number object of off ok on one only optional or refused rejected required same set several some stays still string takes that the there these they this those to too true two undefined unexpected unknown unrecognized unset use used was were will with wrong yes'.split(
    ' ',
  ),
);

interface Rule {
  /** In lower case: without one of these the pattern matches nothing. */
  readonly words: readonly string[];
  readonly pattern: RegExp;
  readonly replacement: string | ((...match: string[]) => string);
}

const RULES: readonly Rule[] = [
  // A private key, also one that is cut.
  {
    words: ['private key'],
    pattern:
      /-----BEGIN [A-Z ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?:(?!-----END ).)*(?:-----END [A-Z ]{0,40}PRIVATE KEY(?: BLOCK)?-----)?/gs,
    replacement: MASK,
  },
  // The rest of a header line that carries credentials. In an address such a name has a value as any other.
  {
    words: ['authorization', 'cookie', 'token', 'api-key', 'apikey'],
    pattern:
      /((?<!\w)(?:proxy-)?(?:authorization|(?:set-)?cookie)|(?<![\w?&-])x-[\w-]*(?:token|api-key|apikey))(\\{0,8}["']?[ \t]{0,8}[:=][ \t]{0,8})[^\r\n]+/gi,
    replacement: `$1$2${MASK}`,
  },
  // The same headers in a list of names and values, where no other name follows.
  {
    words: ['authorization', 'cookie', 'token', 'api-key', 'apikey'],
    pattern:
      /((?<![\w-])(?:(?:proxy-)?authorization|(?:set-)?cookie|x-[\w-]*(?:token|api-key|apikey))\\{0,8}["'],[ \t]{0,8}[bu]?(\\{0,8}["']))((?:(?!\2)(?:\\.|[^\\\r\n]))+)/gi,
    replacement: (whole, head, _quote, value = '') =>
      value === MASK || (value.length <= MAX_HEADER_NAME && /^[A-Za-z]+(?:[_-][A-Za-z]+)*$/.test(value))
        ? whole
        : `${head}${MASK}`,
  },
  // After these words stands a credential, unless it is a word of a sentence.
  {
    words: ['bearer ', 'bearer\t', 'basic ', 'basic\t'],
    pattern: /\b(bearer|basic)([ \t]{1,8})([\w.~+/=-]{6,})/gi,
    replacement: (whole, scheme, blanks, value) =>
      /^[A-Za-z]?[a-z]{1,20}\.?$/.test(value ?? '') ? whole : `${scheme}${blanks}${MASK}`,
  },
  // The values of query parameters; `code` is the one of an OAuth login.
  {
    words: [
      ...['token=', 'key=', 'password=', 'passwd=', 'passphrase=', 'secret=', 'signature=', 'credential=', 'session='],
      ...['pass', 'pwd', 'auth', 'sig', 'sid', 'code'].flatMap(name => [`?${name}=`, `&${name}=`]),
    ],
    pattern:
      /([?&](?:[\w.-]{0,64}(?:token|key|password|passwd|passphrase|secret|signature|credential|session)|pass|pwd|auth|sig|sid|code)=)[^&#\s"'<>]+/gi,
    replacement: `$1${MASK}`,
  },
  // The user name and password in a URL, other than one that shows where they stand.
  {
    words: ['@'],
    pattern: /:\/\/(?!user(?:_id)?:(?:password|token)@)(?:[^\s/@:]*:[^\s/]+|[^\s/@:]{16,})@/g,
    replacement: `://${MASK}@`,
  },
  // Tokens of known shape, wherever they stand.
  {
    words: [
      ...['eyj', 'gho_', 'ghp_', 'ghs_', 'ghr_', 'ghu_', 'github_pat_', 'glpat-', 'sk-', 'xox', 'aiza', 'akia'],
      ...['claim-', ':aa', '/bot', 'asia', 'hf_', 'npm_', 'gsk_', 'dop_v1_', 'tskey-', 'tk_'],
    ],
    pattern:
      /(?<![\w-])(?:eyJ[\w-]{8,}\.[\w-]{4,}(?:\.[\w-]*)?|gh[opsru]_\w{6,}|github_pat_\w{6,}|glpat-[\w-]{6,}|sk-(?=[A-Za-z_-]{0,64}\d)[\w-]{10,}|xox[a-z]-[\w-]{6,}|AIza[\w-]{16,}|AKIA[A-Z0-9]{12,}|ASIA(?=[A-Z]{0,16}\d)[A-Z0-9]{12,}|hf_\w{30,}|npm_[A-Za-z0-9]{36}|gsk_\w{20,}|dop_v1_\w{20,}|tskey-[\w-]{16,}|tk_(?=[A-Za-z]{0,28}\d)[A-Za-z\d]{29}(?![\w-])|claim-[\w-]{16,}|(?:bot)?\d{6,12}:AA[\w-]{30,}|bot\d{6,12}:[\w-]{30,})/g,
    replacement: MASK,
  },
  {
    words: [
      ...['webhooks/', '/webhookb2/', 'hooks.slack.com/', '/hooks/', '/notify/', '/with/key/'],
      ...['ntfy.', '/ntfy:', '/ntfy/'],
    ],
    pattern:
      /(\/api\/(?:v\d{1,3}\/)?webhooks\/\d{1,32}\/|\/webhookb2\/|hooks\.slack\.com\/(?:services|workflows|triggers)\/|\/(?:hooks|notify)\/(?=[A-Za-z]{0,24}\d)(?=\w{17})|\/with\/key\/|(?:(?<![\w.-])ntfy(?:\.[\w-]{1,63}){1,5}|(?<=:\/\/)ntfy)(?::\d{1,5})?\/(?!(?:docs|app|v1|static|file)\b))[\w/@-]+/g,
    replacement: `$1${MASK}`,
  },
  // Addresses for messages, in which nothing but the credential tells the destination.
  {
    words: [
      'tgram://',
      'discord://',
      'slack://',
      'ntfy://',
      'ntfys://',
      'gotify://',
      'gotifys://',
      'pover://',
      'pbul://',
    ],
    pattern:
      /((?<!\w)(?:(?:tgram|discord|slack|gotifys?|pover|pbul):\/\/(?=[^\s"'<>]{0,128}\d)|ntfys?:\/\/(?!(?:host\/)?topic\b)))[^\s"'<>]+/gi,
    replacement: `$1${MASK}`,
  },
  // A member of a text such as YAML or JSON. Elsewhere `key` is mostly the name of something.
  {
    words: [
      'key:',
      ...['key', ...FACTS.debridProviders].flatMap(name => ['":', "':", '\\":'].map(sign => name + sign)),
    ],
    pattern: new RegExp(
      `((?:(?:^|[\\n{,])[ \\t]{0,32}(?:-[ \\t]{1,4})?\\\\{0,8}["']?key|["'](?:${PROVIDERS})(?=\\\\{0,8}["']))` +
        `\\\\{0,8}["']?:[ \\t]{0,8}\\\\{0,8}["']?)([A-Za-z\\d-]{16,256})(?![\\w.:-])`,
      'gi',
    ),
    replacement: (whole, head, value = '') => (OPAQUE_KEY.test(value) ? head + MASK : whole),
  },
  // A password that a program tells in a sentence, as it makes one at its first start.
  {
    words: ['password is', 'passphrase is', 'password for'],
    pattern:
      /(\bpass(?:word|phrase)[ \t]{1,4}(?:for[ \t]{1,4}\S{1,64}[ \t]{1,4})?is(?:[ \t]{1,4}provided[ \t]{1,4}for[ \t]{1,4}this[ \t]{1,4}session)?)(:?[ \t]{1,4})(["'`]?)([^\s"'`]{4,256})/gi,
    replacement: (whole, head, sign = '', quote, value = '') => {
      const isTold = sign.startsWith(':') || quote !== '' || (/\d/.test(value) && /[A-Za-z]/.test(value));
      return isTold && !PLAIN_WORDS.has(value.replace(/[.:!?]$/, '').toLowerCase())
        ? `${head}${sign}${quote}${MASK}`
        : whole;
    },
  },
];

/** The user name and password that curl is given; to other programs the same options give a user and a group. */
const CURL_USER =
  /((?<![\w-])(?:-[A-Za-z]{0,8}?u|-U|--(?:proxy-)?user)(?:\\{0,8}["'],)?[ \t]{0,8}=?[ \t]{0,8}(?!\\{0,8}["']?\d+:\d+(?!\w)))(?:(\\{0,8}["'])[^\s"'\\:]{1,256}:(?:(?!\2)(?:\\.|[^\\\r\n]))+(?:\2)?|[^\s"'\\:]{1,256}:[^\s"']+)/g;
/** The cookies that curl is given; without a sign of equality it is the name of a file. */
const CURL_COOKIE =
  /((?<![\w-])(?:-b|--cookie)(?:\\{0,8}["'],)?[ \t]{0,8}=?[ \t]{0,8})(?:(\\{0,8}["'])[^\s"'\\=]{1,256}=(?:(?!\2)(?:\\.|[^\\\r\n]))+(?:\2)?|[^\s"'\\=]{1,256}=[^\s"']+)/g;
/** Options that give some programs a password, and others a port, a path or nothing. */
const SHORT_OPTION =
  /((?<![\w-])-([aPp])((?:\\{0,8}["'],)?[ \t]{0,8}))(?!\[REDACTED\])(?:(\\{0,8}["'])(?!,)(?:(?!\4)(?:\\.|[^\\\r\n]))+(?:\4)?|[^\s"'\\]+)/g;
/** By such an option, the programs that take a password behind it, with or without a blank between. */
const PASSWORD_TAKERS: Readonly<Record<string, { readonly apart: RegExp; readonly joined: RegExp }>> = {
  a: { apart: /\b(?:redis|valkey)-cli\b/, joined: /(?!)/ },
  P: { apart: /\b(?:(?:un)?zip|mosquitto_(?:pub|sub))\b/, joined: /\b(?:un)?zip\b/ },
  p: {
    apart: /\bsshpass(?:[\s"',\\]{1,8}-v)?[\s"',\\]{1,8}$|\b(?:docker|podman)[\s"',\\]{1,8}login\b/,
    joined: /\bsshpass[\s"',\\]{1,8}$|\b(?:(?:mysql|mariadb)[a-z-]{0,16}|7z[ar]?|unrar)["']?[ \t,]/,
  },
};
/** So far before its options the name of a program is looked for. */
const COMMAND_LINE = 512;

const NAMES = 1 << RULES.length;
const MAILS = NAMES << 1;
const CURL = MAILS << 1;
const SHORT_OPTIONS = CURL << 1;
const OPTION_TAKERS = [
  ...['sshpass', 'mysql', 'mariadb', 'redis-cli', 'valkey-cli', 'mosquitto_', 'docker', 'podman'],
  // Not `rar`, which stands in every `library`.
  ...['zip', 'unrar', '7z ', '7za', '7zr'],
];
/** Which rules may find something, for `redact`. No group stands for printable ASCII without a secret. */
export const SECRET_WORDS = new WordGroups([
  ...RULES.map(({ words }) => words),
  NAME_WORDS,
  ['@'],
  ['curl'],
  OPTION_TAKERS,
]);

/** Which rules may find something in these bytes, for `redact`, and whether they are `UNPRINTABLE`. */
export function secretSigns(view: DataView, from: number, to: number): number {
  return SECRET_WORDS.find(view, from, to);
}

/**
 * The text with credentials, mail addresses, and the identities of media accounts replaced by `[REDACTED]`. `signs` are
 * those of its bytes.
 */
export function redact(text: string, signs = SECRET_WORDS.findInText(text)): string {
  let result = text;
  for (const [index, { pattern, replacement }] of RULES.entries())
    if ((signs & (1 << index)) !== 0) result = result.replace(pattern, replacement as string);
  if ((signs & CURL) !== 0) result = redactCurl(result);
  if ((signs & SHORT_OPTIONS) !== 0) result = redactShortOptions(result);
  if ((signs & NAMES) !== 0) result = redactNamed(result);
  return (signs & MAILS) !== 0 ? redactMails(result) : result;
}

/** Whether the text tells a credential; a mail address is none. */
export function holdsCredential(text: string): boolean {
  const signs = SECRET_WORDS.findInText(text) & ~MAILS;
  return redact(text, signs) !== text;
}

/** Masks the values of names that tell a secret, in all the notations in which programs write them. */
function redactNamed(text: string): string {
  let result = '';
  let done = 0;
  NAME.lastIndex = 0;
  for (let match = NAME.exec(text); match !== null; match = NAME.exec(text)) {
    const from = valueStart(text, match);
    const to = from < 0 ? -1 : valueEnd(text, from, match[0]);
    if (to < 0) continue;
    result += text.slice(done, from) + MASK;
    done = to;
    NAME.lastIndex = to;
  }
  return done === 0 ? text : result + text.slice(done);
}

/** Where the value of a name begins; negative when the match names no secret, or has no value. */
function valueStart(text: string, { 0: name, 1: strong, index }: RegExpExecArray): number {
  const continues = /[a-z]/.test(name.charAt(0)) && /[A-Za-z0-9]/.test(text.charAt(index - 1));
  if (continues && strong === undefined) return -1;
  const end = index + name.length;
  const separator = at(SEPARATOR, text, end);
  if (separator !== null) return isAmbiguous(text, index, name, separator) ? -1 : SEPARATOR.lastIndex;
  if (at(REST_OF_TAG, text, end) !== null) return at(OPEN_TAG, text, index) === null ? -1 : REST_OF_TAG.lastIndex;
  if (at(AFTER_OPTION, text, end) !== null && at(OPTION, text, index) !== null) return AFTER_OPTION.lastIndex;
  if (at(AFTER_ENTRY_NAME, text, end) !== null && at(BEFORE_ENTRY_NAME, text, index) !== null)
    return AFTER_ENTRY_NAME.lastIndex;
  if (at(AFTER_FIRST_OF_PAIR, text, end) !== null && at(BEFORE_FIRST_OF_PAIR, text, index) !== null)
    return AFTER_FIRST_OF_PAIR.lastIndex;
  return /^pass/i.test(name) && at(BEFORE_QUOTE, text, end) !== null ? BEFORE_QUOTE.lastIndex : -1;
}

/** Whether the name has this meaning only in other notations: `pass: 12`, `basic_auth: on`. */
function isAmbiguous(text: string, index: number, name: string, [, quote, sign]: RegExpExecArray): boolean {
  const isAssigned = quote !== undefined || sign === '=' || sign === undefined;
  if (/auth$/i.test(name)) return !isAssigned;
  const standsAlone = !/[\w-]/.test(text.charAt(index - 1));
  return standsAlone && /^(?:pass|claim|t?otp)$/i.test(name) && !isAssigned;
}

/** Where a value ends; negative when it is none, or is masked already. A quote that is not closed lasts to the end. */
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
  if (text.charAt(from) === '[') {
    const close = text.indexOf(']', from);
    return close < 0 ? text.length : close + 1;
  }
  if (text.charAt(from) === '{') return -1;
  const headEnd = endAt(VALUE_HEAD, text, from);
  if (headEnd < 0) return -1;
  const isPathPart = PROVIDER_NAME.test(name);
  const whole = text.slice(from, headEnd);
  const head = isPathPart ? (whole.split(/[/|]/, 1)[0] ?? '') : whole;
  // What is none must not be looked at to its end, which many others may have too.
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

function redactCurl(text: string): string {
  return [CURL_USER, CURL_COOKIE].reduce(
    (masked, pattern) =>
      masked.replace(pattern, (whole: string, option: string, _quote: unknown, at: number) =>
        /curl/i.test(masked.slice(Math.max(0, at - COMMAND_LINE), at)) ? option + MASK : whole,
      ),
    text,
  );
}

function redactShortOptions(text: string): string {
  return text.replace(
    SHORT_OPTION,
    (whole: string, option: string, letter: string, between: string, _quote: unknown, at: number) => {
      const takers = PASSWORD_TAKERS[letter];
      const program = between === '' ? takers?.joined : takers?.apart;
      return program?.test(commandBefore(text, at)) ? option + MASK : whole;
    },
  );
}

/** What stands before an option, from the beginning of its command on. */
function commandBefore(text: string, at: number): string {
  const before = text.slice(Math.max(0, at - COMMAND_LINE), at);
  return before.slice(1 + Math.max(...['\n', '|', ';', '&'].map(sign => before.lastIndexOf(sign))));
}

/** Masks mail addresses. Each begins to be looked for at its `@`, so that other text is not looked at twice. */
function redactMails(text: string): string {
  let result = '';
  let done = 0;
  for (let sign = text.indexOf('@'); sign >= 0; sign = text.indexOf('@', sign + 1)) {
    const [local = ''] = /[A-Za-z0-9._%+-]{0,64}$/.exec(text.slice(Math.max(done, sign - 64), sign)) ?? [];
    const from = sign - local.replace(/^[^A-Za-z0-9]+/, '').length;
    // The user of repositories is nobody's name.
    const to = from === sign || local === 'git' ? -1 : endAt(DOMAIN, text, sign + 1);
    if (to < 0) continue;
    result += text.slice(done, from) + MASK;
    done = to;
  }
  return done === 0 ? text : result + text.slice(done);
}

/** The match that begins exactly at `index`, of a sticky pattern. */
function at(pattern: RegExp, text: string, index: number): RegExpExecArray | null {
  pattern.lastIndex = index;
  return pattern.exec(text);
}

function endAt(pattern: RegExp, text: string, index: number): number {
  return at(pattern, text, index) === null ? -1 : pattern.lastIndex;
}
