// Hides the values of secrets where a configuration is only looked at.

import { isObject } from '../kit/plain-object.ts';
import { isSecretKey } from '../kit/redact.ts';

export const MASK = '********';

const USERINFO = /^([a-z][a-z0-9+.-]*:\/\/)[^\s/@]+@/i;

/** A copy with every non-empty value under a secret-looking name, and credentials inside addresses, replaced. */
export function maskSecrets(value: unknown, key = ''): unknown {
  if (Array.isArray(value)) return value.map(member => maskSecrets(member, key));
  if (isObject(value)) {
    const secret = isSecretKey(key);
    return Object.fromEntries(
      Object.entries(value).map(([name, member]) => [
        name,
        secret && typeof member === 'string' ? hidden(member) : maskSecrets(member, name),
      ]),
    );
  }
  if (typeof value !== 'string') return value;
  return isSecretKey(key) ? hidden(value) : value.replace(USERINFO, `$1${MASK}@`);
}

function hidden(text: string): string {
  return text === '' ? '' : MASK;
}
