// What the rules of redaction share: the mask, the products whose accounts are secret, and the words that are no
// values.
import { readFileSync } from 'node:fs';

export const MASK = '[REDACTED]';

interface Facts {
  /** Products whose accounts are people, in lower case. */
  readonly personalAccounts: readonly string[];
  /** Providers whose names precede the key of an account in addresses and options. */
  readonly debridProviders: readonly string[];
}

/** Read once in each thread, when the module is loaded. */
export const FACTS = JSON.parse(
  readFileSync(new URL('../../templates/redaction.json', import.meta.url), 'utf8'),
) as Facts;
export const ACCOUNT_PRODUCTS = FACTS.personalAccounts.join('|');
export const PROVIDERS = FACTS.debridProviders.join('|');

/** The shape of an account's key. It has no words, unlike the names that mostly stand behind a mere `key`. */
export const OPAQUE_KEY = /^(?=[A-Za-z]*\d)(?=\d*[A-Za-z])(?:[A-Za-z\d]{16,}|[A-Fa-f\d-]{32,})$/;

/** Words that stand after a name in messages, and are no values. */
export const PLAIN_WORDS = new Set(
  'a an and any are array at boolean both by cannot changed disabled does each empty enabled expected expired failed false for given has have here in invalid is it its keep kept missing more most must name names needs never nil no nobody none not nothing null number object of off ok on one only optional or refused rejected required same set several some stays still string takes that the there these they this those to too true two undefined unexpected unknown unrecognized unset use used was were will with wrong yes'.split(
    ' ',
  ),
);
