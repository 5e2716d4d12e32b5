// Checks options of the block as AIOStreams does: its public address, and the login of its administrator.
import { addressKind } from '#kit/address-kind';

type Values = Readonly<Record<string, unknown>>;

const MAX_NAME_LENGTH = 128;
const PASSWORD_LENGTHS = { least: 12, most: 256 };
/** Characters that separate names, passwords and permissions in its environment variables. */
const SEPARATORS = /[,:=|\r\n]/;
const LOCAL_NAME = /^(?:[^.:]+|.*\.(?:localhost|local|lan|home|home\.arpa|internal))$/i;
const OWN_NAME = /^(?:.*\.)?localhost$/i;

/** What is wrong with the address, as the end of a sentence; undefined when it is accepted. */
export function addressFault(text: string): string | undefined {
  if (text === '') return 'base_url is not set';
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !['http:', 'https:'].includes(url.protocol))
    return 'base_url is no address; give one that begins with https://';
  if (url.username !== '' || url.password !== '') return 'base_url has a login; take it out';
  if (/[?#]/.test(text)) return 'base_url has a query or a fragment; end it before';
  const host = bare(url.hostname);
  const isLocal = LOCAL_NAME.test(host) || ['private', 'loopback'].includes(addressKind(host));
  if (url.protocol === 'http:' && !isLocal) return 'base_url must begin with https://, because it is not local';
  return undefined;
}

/** The address with the port at which the service listens, if it is one of this machine and has no path. */
export function followed(text: string, port: unknown): string {
  if (!URL.canParse(text) || !Number.isInteger(port)) return text;
  const url = new URL(text);
  const host = bare(url.hostname);
  const isOwn = OWN_NAME.test(host) || addressKind(host) === 'loopback';
  if (!isOwn || url.pathname !== '/' || Number(url.port || (url.protocol === 'https:' ? 443 : 80)) === port)
    return text;
  url.port = String(port);
  return text.endsWith('/') ? url.href : url.href.slice(0, -1);
}

/** What is wrong with the administrator's login, as the end of a sentence; undefined when it is accepted. */
export function loginFault({ auth_username: name, auth_password: password }: Values): string | undefined {
  if (typeof name !== 'string' || name === '') return 'auth_username is not set';
  if (name.length > MAX_NAME_LENGTH) return `auth_username is longer than ${MAX_NAME_LENGTH} characters`;
  if (SEPARATORS.test(name)) return "auth_username must not have ',', ':', '=', '|' or line breaks";
  if (typeof password !== 'string' || password === '') return 'auth_password is not set';
  const { least, most } = PASSWORD_LENGTHS;
  if (password.length < least || password.length > most)
    return `auth_password must have ${least} to ${most} characters`;
  if (password.includes(',') || password.trim() !== password)
    return 'auth_password must not have commas, or white space at its ends';
  return undefined;
}

function bare(hostname: string): string {
  return hostname.replace(/^\[|\]$/g, '');
}
