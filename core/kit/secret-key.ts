// Tells by the name of a member whether it holds a secret.

/** The words that stand before `key` in the names of secrets. */
export const KEY_KINDS: readonly string[] =
  'access account admin auth consumer debrid deploy encryption encrypt hmac jwt license master pass private rss security session sentry signing sign storage stream tunnel webhook'.split(
    ' ',
  );

/** Names of members whose values are secret. */
const SECRET_KEY = new RegExp(
  'token|secret|password|passwd|passphrase|(?:^|_)pass$|api[_-]?keys?$|_key$|claim$|credential|^authorization$' +
    `|(?:${KEY_KINDS.join('|')})-?key$`,
  'i',
);
/** Variables whose values are secret. In small letters, such a word mostly ends another, as in `compass`. */
const SECRET_VARIABLE = /^[A-Z\d_]*(?:KEY|PASS)$/;

/** Whether a member of that name holds a secret. `config_key` looks like one, but names a service. */
export function isSecretKey(name: string): boolean {
  return SECRET_VARIABLE.test(name) || (name !== 'config_key' && SECRET_KEY.test(name));
}
