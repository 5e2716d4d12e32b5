// Masks secrets and personal data in text, in time linear in its length, because services may write any text. One look
// for the words of each rule tells which rules may find something; most texts need none.
import { MASK } from './redaction-words.ts';
import { NAME_WORDS, redactNamed, type SecretNames } from './secret-names.ts';
import { OPTION_TAKERS, redactCurl, redactShortOptions } from './secret-options.ts';
import { RULES } from './secret-shapes.ts';
import { endAt } from './sticky-match.ts';
import { WordGroups } from './word-groups.ts';

const DOMAIN = /(?:[A-Za-z0-9-]+\.)+[A-Za-z]{2,}\b/y;

/** The bits in the signs of a text: one for each rule, then these. */
const NAMES = 1 << RULES.length;
const MAILS = NAMES << 1;
const CURL = MAILS << 1;
const SHORT_OPTIONS = CURL << 1;
/**
 * The words of the rules, a group for each bit. A text in which `find` finds none is printable ASCII without a secret.
 */
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
export function redact(text: string, signs = SECRET_WORDS.findInText(text), names: SecretNames = 'all'): string {
  let result = text;
  for (const [index, { pattern, replacement }] of RULES.entries())
    if ((signs & (1 << index)) !== 0) result = result.replace(pattern, replacement as string);
  if ((signs & CURL) !== 0) result = redactCurl(result);
  if ((signs & SHORT_OPTIONS) !== 0) result = redactShortOptions(result);
  if ((signs & NAMES) !== 0) result = redactNamed(result, names);
  return (signs & MAILS) !== 0 ? redactMails(result) : result;
}

/** Whether the text holds a credential; a mail address is none. */
export function holdsCredential(text: string): boolean {
  const signs = SECRET_WORDS.findInText(text) & ~MAILS;
  return redact(text, signs) !== text;
}

/** The text with `mask` in place of each credential; mail addresses and the identities of accounts stay. */
export function withoutCredentials(text: string, mask: string): string {
  const signs = SECRET_WORDS.findInText(text) & ~MAILS;
  if (signs === 0) return text;
  const masked = redact(text, signs, 'credentials');
  return masked === text ? text : masked.replaceAll(MASK, mask);
}

/** Masks mail addresses. Each is searched from its `@`, so that other text is not looked at twice. */
function redactMails(text: string): string {
  let result = '';
  let done = 0;
  for (let sign = text.indexOf('@'); sign >= 0; sign = text.indexOf('@', sign + 1)) {
    const [local = ''] = /[A-Za-z0-9._%+-]{0,64}$/.exec(text.slice(Math.max(done, sign - 64), sign)) ?? [];
    const from = sign - local.replace(/^[^A-Za-z0-9]+/, '').length;
    // In the address of a repository, `git` is no person.
    const to = from === sign || local === 'git' ? -1 : endAt(DOMAIN, text, sign + 1);
    if (to < 0) continue;
    result += text.slice(done, from) + MASK;
    done = to;
  }
  return done === 0 ? text : result + text.slice(done);
}
