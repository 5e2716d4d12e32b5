// Masks secrets in text that leaves the host for a model or is shown as evidence: all that is masked in logs, and
// further forms that files and requests use. Masking a masked text again changes nothing.
import { redact } from '#kit/redact';
import { WordGroups } from '#kit/word-groups';
import { withoutBreaks, withoutVeils } from './veiled-text.ts';

export const MASK = '[REDACTED]';

interface Rule {
  /** Words in lower case, without one of which the pattern cannot match. */
  readonly words: readonly string[];
  readonly pattern: RegExp;
  readonly replacement: string | ((...match: string[]) => string);
}

/** Order matters: rules that span lines come before the rules for one line. */
const RULES: readonly Rule[] = [
  // PEM blocks of any kind. A block without its end lasts to the end of the text.
  {
    words: ['-----begin '],
    pattern: /-----BEGIN [A-Z0-9 ]{1,40}-----(?:(?!-----END ).)*(?:-----END [A-Z0-9 ]{1,40}-----)?/gs,
    replacement: MASK,
  },
  // A header that continues in the lines after it.
  {
    words: ['authorization:', 'cookie:'],
    pattern: /^((?:proxy-)?authorization|(?:set-)?cookie):[ \t]{0,8}\S[^\r\n]*(?:\r?\n[ \t]+[^\r\n]+)+/gim,
    replacement: `$1: ${MASK}`,
  },
  // A value in the line after its name, as in folded YAML, indented JSON, and a command continued with a backslash.
  {
    words: ['pass', 'secret', 'token', 'key', 'credential', 'auth'],
    pattern:
      /((?:pass(?:word|wd|phrase)?|secret|token|(?:api|private|access|secret|encryption)[_-]?key|credentials?)["']?[ \t]{0,8}(?:[:=][ \t]{0,8}(?:[|>][+-]?)?|\\)[ \t]{0,8}\r?\n[ \t]{1,40}["']?)(?!\[REDACTED\])[^\s"':,{}[\]]{4,1024}(?=["']?[ \t]{0,8}(?:[,;}\]]|\r?\n|$))/gi,
    replacement: `$1${MASK}`,
  },
  // A value alone in the line after its name.
  {
    words: ['pass', 'secret', 'token', 'key'],
    pattern:
      /((?:pass(?:word|wd|phrase)|secret|token|api[_-]?key)["']?[ \t]{0,8}[:=]\r?\n)(?=[\w+/.-]{0,256}\d)(?=[\w+/.-]{0,256}[A-Za-z])[\w+/.-]{8,256}={0,2}(?=\r?\n|$)/gi,
    replacement: `$1${MASK}`,
  },
  // A name and its value as words of a list, or in the columns of a table.
  {
    words: ['pass', 'secret', 'token', 'key'],
    pattern:
      /((?:pass(?:word|wd|phrase)|secret|token|api[_-]?key)(?:["'][ \t]{0,8},[ \t]{0,8}["']|[ \t]{0,40}(?:\||->|\u2192)[ \t]{0,40}|\t[ \t]{0,40}|[ ]{2,40}))(?=[^\s"'|,]{0,256}\d)(?=[^\s"'|,]{0,256}[A-Za-z])[^\s"'|,]{8,256}/gi,
    replacement: `$1${MASK}`,
  },
  // The login in the arguments of a command.
  {
    words: ['-u ', '--user ', '--user='],
    pattern: /((?<!\S)(?:-u|--user)[ =]["']?[\w.@-]{1,64}:)(?![/\d]{0,8}(?:\s|$))[^\s"']{3,256}/g,
    replacement: `$1${MASK}`,
  },
  // A user name and a password with a slash between them.
  {
    words: ['credential'],
    pattern: /(credentials?[ \t]{0,8}[:=][ \t]{0,8})[^\s/]{1,128}[ \t]{1,8}\/[ \t]{1,8}\S{1,256}/gi,
    replacement: `$1${MASK}`,
  },
  {
    words: ['account'],
    pattern: /(account[ _]name[ \t]{0,8}[:=][ \t]{0,8})[^\s"',;][^\r\n"',;]{0,127}/gi,
    replacement: `$1${MASK}`,
  },
  // Names and addresses in percent-encoding, once or twice encoded.
  {
    words: ['%3d', '%3a', '%253d', '%253a'],
    pattern:
      /((?:pass(?:word|wd|phrase)?|secret|token|(?:api|access|encryption|private|secret|session|signing)[_-]?key|signature|authorization|credentials?)(?:%(?:25)?2[27])?%(?:25)?3[ad](?:%(?:25)?2[027]|\+)?)(?!\[REDACTED\])(?:[\w.~+/-]|%(?!(?:25)?(?:26|2c|22|27|7d))[0-9a-f]{2})+/gi,
    replacement: `$1${MASK}`,
  },
  {
    words: ['%2f%2f', '%252f%252f'],
    pattern: /(%(?:25)?3a%(?:25)?2f%(?:25)?2f)[^\s&"'<>/]{1,256}?%(?:25)?40/gi,
    replacement: `$1${MASK}@`,
  },
  {
    words: ['basic%20', 'bearer%20', 'basic+', 'bearer+'],
    pattern: /\b(basic|bearer)(%(?:25)?20|\+)[\w.~+/%=-]{6,}/gi,
    replacement: `$1$2${MASK}`,
  },
  {
    words: ['%40'],
    pattern: /(?<![\w.+-])[\w.+-]{1,64}%(?:25)?40(?:[\w-]{1,63}\.){1,8}[a-z]{2,24}/gi,
    replacement: MASK,
  },
  // A secret that a sentence names.
  {
    words: ['key ', 'token ', 'password ', 'secret ', 'passphrase '],
    pattern:
      /\b((?:api[ _-]?key|token|password|secret|passphrase)[ \t](?:(?:is|was|of|value|set to)[ \t])?["'(]?)(?=[\w-]{0,128}\d)(?=[\w-]{0,128}[a-z])(?:[0-9a-f]{20,}|[A-Za-z0-9_]{20,})(?![\w-])/gi,
    replacement: `$1${MASK}`,
  },
  // Ids of servers and devices in URLs.
  {
    words: ['/devices/', '/api/servers/'],
    pattern: /(\/(?:devices|api\/servers)\/)[0-9a-f]{32,}/gi,
    replacement: `$1${MASK}`,
  },
  // Tokens of known shape that the rules for logs do not cover.
  {
    words: [
      ...['npm_', 'hf_', 'sg.', 'ya29.', 'sk_live_', 'sk_test_', 'rk_live_', 'whsec_', 'age-secret-key-', 'dop_v1_'],
      ...['shpat_', 'xapp-', 'tskey-', 'glrt-', 'sntrys_', 'lin_api_', 'gsk_', 'pplx-', 'xai-', 'r8_', 'dckr_pat_'],
      ...['tk_', 'gaaaaa', 'pypi-', 'syt_', 'hvs.'],
    ],
    pattern:
      /(?<![\w-])(?:npm_\w{20,}|hf_\w{20,}|SG\.[\w-]{16,}\.[\w-]{16,}|ya29\.[\w-]{16,}|[rs]k_(?:live|test)_\w{10,}|whsec_\w{16,}|AGE-SECRET-KEY-1[A-Z0-9]{20,}|dop_v1_\w{16,}|shpat_\w{16,}|xapp-[\w-]{10,}|tskey-[\w-]{10,}|glrt-[\w-]{10,}|sntrys_[\w+/=-]{16,}|lin_api_\w{16,}|gsk_\w{16,}|pplx-\w{16,}|xai-\w{16,}|r8_\w{16,}|dckr_pat_[\w-]{10,}|tk_[a-z0-9]{20,}|gAAAAA[\w-]{20,}={0,2}|pypi-[\w-]{16,}|syt_\w{10,}|hvs\.[\w-]{16,})/g,
    replacement: MASK,
  },
  // Hashes of passwords.
  {
    words: [
      '$2a$',
      '$2b$',
      '$2x$',
      '$2y$',
      '$argon2',
      '$apr1$',
      '$1$',
      '$5$',
      '$6$',
      '$y$',
      'pbkdf2',
      'scram-sha-',
      '{ssha',
      '{sha',
    ],
    pattern:
      /\$(?:2[abxy]\$\d\d\$[\w./]{20,}|argon2[id]{1,2}\$[\w$,=./+]{16,}|(?:apr1|[156y])\$[\w$./=]{16,})|pbkdf2[\w:$-]{0,40}\$[\w$./+=]{16,}|SCRAM-SHA-\d{1,3}\$[\w$:./+=]{16,}|\{S?SHA\d{0,3}\}[\w/+=]{16,}/g,
    replacement: MASK,
  },
  // Webhook URLs of chats, with which anyone can post.
  {
    words: ['webhook', '/services/t', 'outgoing', '/hooks/'],
    pattern: /(https?:\/\/[\w.:-]{1,128}\/(?:[\w.-]{1,64}\/){0,6}(?:webhooks?|webhookb2|hooks)\/)[\w@/%.-]{16,}/gi,
    replacement: `$1${MASK}`,
  },
  // JSON in base64, as in a JWT without its signature and in the tokens of tunnels.
  { words: ['eyj'], pattern: /(?<![\w+/=-])eyJ[\w+/-]{30,}={0,2}/g, replacement: MASK },
];

const BLOCK_END = '-----END ';
const BLOCK_CHARACTER = /[A-Za-z0-9+/=\s]/;
const CLOSE_OF_BLOCK = /[A-Z0-9 ]{1,40}-----/y;
/** The rest of a token that continues in the line after the masked one. */
const NEXT_LINE =
  /(\[REDACTED\]["']?)(\r?\n[ \t]*)(?=[\w+/-]*\d)(?=[\w+/-]*[A-Za-z])[\w.+/-]{24,}={0,2}(?=["']?[ \t]*(?:\r?\n|$))/g;

const WORDS = new WordGroups(RULES.map(({ words }) => words));
/** Shorter values may also be ordinary words. */
const MIN_KNOWN_LENGTH = 6;

/**
 * The text with every secret replaced by `[REDACTED]`. `known` are values to mask wherever they occur, such as the
 * secrets of the configuration, the longest first.
 */
export function redactText(text: string, known: readonly string[] = []): string {
  const clean = (plain: string): string => redactPlain(plain, known);
  return withoutVeils(clean(withoutBreaks(text, clean)), clean);
}

function redactPlain(text: string, known: readonly string[]): string {
  let result = text;
  for (const secret of known) if (result.includes(secret)) result = result.replaceAll(secret, MASK);
  const signs = WORDS.findInText(result);
  if (signs !== 0)
    for (const [index, { pattern, replacement }] of RULES.entries())
      if ((signs & (1 << index)) !== 0) result = result.replace(pattern, replacement as string);
  result = redact(withoutCutBlocks(result));
  return result.includes(MASK) ? result.replaceAll(NEXT_LINE, `$1$2${MASK}`) : result;
}

/**
 * The values that are long and special enough to search for, in every encoding in which they may occur, the longest
 * first.
 */
export function knownSecrets(values: Iterable<string>): string[] {
  const forms = new Set<string>();
  for (const value of values) {
    if (value.length < MIN_KNOWN_LENGTH || /^(?:\d{1,8}|[a-z]{1,12}|\[REDACTED\])$/i.test(value)) continue;
    const bytes = Buffer.from(value);
    const base64 = bytes.toString('base64').replaceAll('=', '');
    for (const form of [value, JSON.stringify(value).slice(1, -1), encodeURIComponent(bytes.toString()), base64])
      forms.add(form);
  }
  return [...forms].sort((a, b) => b.length - a.length);
}

/** The text without the lines of a block whose beginning was cut off. */
function withoutCutBlocks(text: string): string {
  let result = '';
  let done = 0;
  for (let end = text.indexOf(BLOCK_END); end >= 0; end = text.indexOf(BLOCK_END, done)) {
    let start = end;
    while (start > done && BLOCK_CHARACTER.test(text.charAt(start - 1))) start -= 1;
    CLOSE_OF_BLOCK.lastIndex = end + BLOCK_END.length;
    const isClosed = CLOSE_OF_BLOCK.test(text);
    result += text.slice(done, start) + MASK;
    done = isClosed ? CLOSE_OF_BLOCK.lastIndex : end + BLOCK_END.length;
  }
  return done === 0 ? text : result + text.slice(done);
}
