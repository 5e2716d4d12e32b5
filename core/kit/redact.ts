// Takes secrets and personal names out of text, in time that grows with its length only: programs write what they like.

import { readFileSync } from 'node:fs';

const MASK = '[REDACTED]';

interface Facts {
  /** Products whose accounts are people, in lower case. */
  readonly personalAccounts: readonly string[];
}

/** Read once for each thread, before its first line. */
const FACTS = JSON.parse(readFileSync(new URL('../../templates/redaction.json', import.meta.url), 'utf8')) as Facts;
const PEOPLE = FACTS.personalAccounts.join('|');

/** Key names whose values are secret. `config_key` names a service, not a secret. */
const SECRET_KEY = /token|secret|password|passwd|api[_-]?keys?$|_key$|claim$|credential|^authorization$/i;

export function isSecretKey(name: string): boolean {
  return name !== 'config_key' && SECRET_KEY.test(name);
}

/** For a text in lower case, where it is found twice as fast. */
const SUSPECT =
  /token|secret|passw|_key|-key|credential|api[ _-]?key|bearer|basic|authorization|cookie|[?&]code=|@|eyj|machineidentifier|client[_-]?identifier|device|server|account|user/;

/** Also the end of a longer name, such as `my_token`. */
const NAME =
  '(?<![A-Za-z0-9])(?:access[ _-]?token|refresh[ _-]?token|auth[ _-]?token|token|api[ _-]?key|apikey|password|passwd|client[ _-]?secret|secret|encryption[ _-]?key|credentials?)';
const VALUE = String.raw`(?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[^\s,;&"'}\])]+)`;

interface Rule {
  readonly pattern: RegExp;
  readonly replacement: string;
}

const RULES: readonly Rule[] = [
  // Header lines that carry credentials, to the end of the line.
  {
    pattern: /(\b(?:authorization|cookie)|(?<![\w-])x-[\w-]*(?:token|api-key|apikey))(["']?\s*[:=]\s*)[^\r\n]+/gi,
    replacement: `$1$2${MASK}`,
  },
  { pattern: /\b(bearer|basic)\s+[\w.~+/=-]{6,}/gi, replacement: `$1 ${MASK}` },
  // Query parameters, `code` among them.
  {
    pattern: /([?&](?:[\w-]*(?:token|api[_-]?key|password|passwd|secret)|code)=)[^&#\s"'<>]+/gi,
    replacement: `$1${MASK}`,
  },
  // Name and password inside an address.
  { pattern: /:\/\/[^\s/@:]*:[^\s/@]+@/g, replacement: `://${MASK}@` },
  // `key: value`, `key=value` and their quoted forms.
  {
    pattern: new RegExp(String.raw`(${NAME}["']?\s*[:=]\s*)(?!\[REDACTED\])${VALUE}`, 'gi'),
    replacement: `$1${MASK}`,
  },
  // Command lines: `--token VALUE`.
  {
    pattern: /(\s--?(?:[\w-]*token|[\w-]*api-?key|password|[\w-]*secret)[ =])(?!\[REDACTED\])\S+/gi,
    replacement: `$1${MASK}`,
  },
  // Signed tokens wherever they stand.
  { pattern: /\beyJ[\w-]{8,2048}\.[\w-]{4,}(?:\.[\w-]*)?/g, replacement: MASK },
  { pattern: /\b[A-Za-z0-9._%+-]{1,64}@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,}\b/g, replacement: MASK },
  // Server ids, device ids, and account names that are people's.
  {
    pattern: new RegExp(
      String.raw`(["']?\b(?:machine_?identifier|client_?identifier|device_?id|server_?id|(?:${PEOPLE})[ _-]?(?:user(?:name)?|account))["']?\s*[:=]\s*)(?!\[REDACTED\])${VALUE}`,
      'gi',
    ),
    replacement: `$1${MASK}`,
  },
];

/** The text with credentials, addresses of people, and identities of media accounts replaced by `[REDACTED]`. */
export function redact(text: string): string {
  if (!SUSPECT.test(text.toLowerCase())) return text;
  let result = text;
  for (const { pattern, replacement } of RULES) result = result.replace(pattern, replacement);
  return result;
}
