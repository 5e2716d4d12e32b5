// Which variables of the host's environment other programs may see: all but its secrets.
import { holdsCredential } from './redact.ts';
import { isSecretKey } from './secret-key.ts';

/** Names of secrets that are usual for variables alone. */
const SECRET_VARIABLE =
  /(?:^|_)(?:(?:db|pg|ssh|user)?pass|passphrase|pwd?|salt|auth|authorization|bearer|cookies?|creds|dsn|jwt|netrc|session|t?otp|pat|key)$|access_?key|^op_session_|^ssh_auth_sock$|^pgpassfile$/i;
/** Variables whose names only look secret: the working directories, which shells set, and the kind of desktop. */
const OPEN = new Set(['PWD', 'OLDPWD', 'DESKTOP_SESSION']);
const URL_WITH_CREDENTIALS = /:\/\/[^\s/?#@]*@/;

/** The latest answer for each variable, because every launch asks for the same ones. */
const found = new Map<string, { readonly value: string; readonly isSecret: boolean }>();

/** The environment without the variables whose names or values tell a secret. */
export function publicEnvironment(env: Readonly<NodeJS.ProcessEnv>): Record<string, string> {
  const shown: Record<string, string> = {};
  for (const [name, value] of Object.entries(env))
    if (value !== undefined && !holdsSecret(name, value)) shown[name] = value;
  return shown;
}

function holdsSecret(name: string, value: string): boolean {
  const known = found.get(name);
  if (known?.value === value) return known.isSecret;
  const isSecret = tellsSecret(name, value);
  found.set(name, { value, isSecret });
  return isSecret;
}

function tellsSecret(name: string, value: string): boolean {
  if (OPEN.has(name)) return false;
  return isSecretKey(name) || SECRET_VARIABLE.test(name) || URL_WITH_CREDENTIALS.test(value) || holdsCredential(value);
}
