// Tells by the name of a member whether it holds a secret.

/** Names of members whose values are secret. */
const SECRET_KEY =
  /token|secret|password|passwd|passphrase|(?:^|_)pass$|api[_-]?keys?$|[_-]key$|claim$|credential|^authorization$/i;
/** Variables whose values are secret. In small letters, the word mostly ends another one. */
const SECRET_VARIABLE = /^[A-Z\d_]*KEY$/;

/** Whether a member of that name holds a secret. `config_key` looks like one, but names a service. */
export function isSecretKey(name: string): boolean {
  return SECRET_VARIABLE.test(name) || (name !== 'config_key' && SECRET_KEY.test(name));
}
