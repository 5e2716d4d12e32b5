// Secrets that are known by their shape, or by what stands right before them, wherever they stand in a text.
import { FACTS, MASK, OPAQUE_KEY, PLAIN_WORDS, PROVIDERS } from './redaction-words.ts';

const MAX_HEADER_NAME = 32;

interface Rule {
  /** In lower case. A text without one of these words has no match of the pattern. */
  readonly words: readonly string[];
  readonly pattern: RegExp;
  readonly replacement: string | ((...match: string[]) => string);
}

export const RULES: readonly Rule[] = [
  // A private key, also one that is cut.
  {
    words: ['private key'],
    pattern:
      /-----BEGIN [A-Z ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?:(?!-----END ).)*(?:-----END [A-Z ]{0,40}PRIVATE KEY(?: BLOCK)?-----)?/gs,
    replacement: MASK,
  },
  // The rest of a header line that carries credentials. In an address such a name is a parameter like any other.
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
