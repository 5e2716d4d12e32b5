// Masks secrets and personal data in text, in time linear in its length, because services may write any text.

import { readFileSync } from 'node:fs';

const MASK = '[REDACTED]';

interface Facts {
  /** Products whose accounts are people, in lower case. */
  readonly personalAccounts: readonly string[];
}

/** Read once in each thread, when the module is loaded. */
const FACTS = JSON.parse(readFileSync(new URL('../../templates/redaction.json', import.meta.url), 'utf8')) as Facts;
const PEOPLE = FACTS.personalAccounts.join('|');

/** Names of members whose values are secret. */
const SECRET_KEY = /token|secret|password|passwd|api[_-]?keys?$|_key$|claim$|credential|^authorization$/i;

/** Whether a member of that name holds a secret. `config_key` looks like one, but names a service. */
export function isSecretKey(name: string): boolean {
  return name !== 'config_key' && SECRET_KEY.test(name);
}

/**
 * Skips texts that no rule can match. It is tested on the text in lower case, which is twice as fast as ignoring case.
 */
const SUSPECT =
  /token|secret|passw|_key|-key|credential|api[ _-]?key|bearer|basic|authorization|cookie|[?&]code=|@|eyj|machineidentifier|client[_-]?identifier|device|server|account|user/;

/** Names of secrets in running text, also at the end of a longer name such as `my_token`. */
const SECRET_NAME =
  '(?<![A-Za-z0-9])(?:access[ _-]?token|refresh[ _-]?token|auth[ _-]?token|token|api[ _-]?key|apikey|password|passwd|client[ _-]?secret|secret|encryption[ _-]?key|credentials?)';
const SECRET_VALUE = String.raw`(?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[^\s,;&"'}\])]+)`;

interface Rule {
  readonly pattern: RegExp;
  readonly replacement: string;
}

const RULES: readonly Rule[] = [
  // The rest of a header line that carries credentials.
  {
    pattern: /(\b(?:authorization|cookie)|(?<![\w-])x-[\w-]*(?:token|api-key|apikey))(["']?\s*[:=]\s*)[^\r\n]+/gi,
    replacement: `$1$2${MASK}`,
  },
  { pattern: /\b(bearer|basic)\s+[\w.~+/=-]{6,}/gi, replacement: `$1 ${MASK}` },
  // The values of query parameters; `code` is the one of an OAuth login.
  {
    pattern: /([?&](?:[\w-]*(?:token|api[_-]?key|password|passwd|secret)|code)=)[^&#\s"'<>]+/gi,
    replacement: `$1${MASK}`,
  },
  // The user name and password in a URL.
  { pattern: /:\/\/[^\s/@:]*:[^\s/@]+@/g, replacement: `://${MASK}@` },
  // The value in `key: value`, `key=value` and their quoted forms.
  {
    pattern: new RegExp(String.raw`(${SECRET_NAME}["']?\s*[:=]\s*)(?!\[REDACTED\])${SECRET_VALUE}`, 'gi'),
    replacement: `$1${MASK}`,
  },
  // The value after an option of a command line, such as `--token VALUE`.
  {
    pattern: /(\s--?(?:[\w-]*token|[\w-]*api-?key|password|[\w-]*secret)[ =])(?!\[REDACTED\])\S+/gi,
    replacement: `$1${MASK}`,
  },
  // JSON Web Tokens, wherever they stand.
  { pattern: /\beyJ[\w-]{8,2048}\.[\w-]{4,}(?:\.[\w-]*)?/g, replacement: MASK },
  // Mail addresses.
  { pattern: /\b[A-Za-z0-9._%+-]{1,64}@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,}\b/g, replacement: MASK },
  // Server ids, device ids, and account names that are people's.
  {
    pattern: new RegExp(
      String.raw`(["']?\b(?:machine_?identifier|client_?identifier|device_?id|server_?id|(?:${PEOPLE})[ _-]?(?:user(?:name)?|account))["']?\s*[:=]\s*)(?!\[REDACTED\])${SECRET_VALUE}`,
      'gi',
    ),
    replacement: `$1${MASK}`,
  },
];

/** The text with credentials, mail addresses, and the identities of media accounts replaced by `[REDACTED]`. */
export function redact(text: string): string {
  if (!SUSPECT.test(text.toLowerCase())) return text;
  let result = text;
  for (const { pattern, replacement } of RULES) result = result.replace(pattern, replacement);
  return result;
}
