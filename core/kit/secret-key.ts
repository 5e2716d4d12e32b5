// Tells by the name of a member whether it holds a secret.

/** Names of members whose values are secret. */
const SECRET_KEY =
  /token|secret|password|passwd|passphrase|(?:^|[_-])pass$|api[_-]?keys?$|[_-]key$|claim$|credential|^authorization$/i;
/** Names that their capitals tell. In small letters, such a word mostly ends another, as in `compass`. */
const CAPITAL_NAME = /^[A-Z\d_]*KEY$|[a-z\d]Pass$/;

/** Whether a member of that name holds a secret. `config_key` looks like one, but names a service. */
export function isSecretKey(name: string): boolean {
  return CAPITAL_NAME.test(name) || (name !== 'config_key' && SECRET_KEY.test(name));
}
