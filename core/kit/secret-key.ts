// Tells by the name of a member whether it holds a secret.

/** Names of members whose values are secret. */
const SECRET_KEY = /token|secret|password|passwd|(?:^|_)pass$|api[_-]?keys?$|_key$|claim$|credential|^authorization$/i;

/** Whether a member of that name holds a secret. `config_key` looks like one, but names a service. */
export function isSecretKey(name: string): boolean {
  return name !== 'config_key' && SECRET_KEY.test(name);
}
