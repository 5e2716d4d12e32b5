// Who follows whom, from the configuration: the primary, the subordinates, and what is wrong with that.
import type { SyncSettings } from './settings.ts';

export interface Internal {
  /** Name of the instance. */
  readonly name: string;
  readonly role: 'primary' | 'subordinate';
  readonly port: number | undefined;
  /** undefined while the program has none. */
  readonly apiKey: string | undefined;
}

export interface PeerSettings {
  readonly label: string;
  /** Without a trailing slash. */
  readonly address: string;
  readonly apiKey: string;
}

export interface Topology {
  /** undefined while it is not ready, or where nothing can be done. */
  readonly primary: PeerSettings | undefined;
  readonly subordinates: readonly PeerSettings[];
  /** Names under which subordinates are listed, also those that are not ready. */
  readonly labels: readonly string[];
  /** Logical errors that stop everything, the first one first. */
  readonly errors: readonly string[];
  /** What concerns one subordinate alone, or passes. */
  readonly warnings: readonly string[];
}

export function topologyOf(settings: SyncSettings, internals: readonly Internal[]): Topology {
  const { external_primary: external, external_subordinates: externals } = settings;
  const primaries = internals.filter(({ role }) => role === 'primary');
  const errors: string[] = [];
  const warnings: string[] = [];
  if (primaries.length > 1) errors.push('more than one instance is the primary; leave sync_role primary to one');
  if (external.enabled && primaries.length > 0)
    errors.push('an external primary is enabled while an instance is the primary; choose one');
  if (!external.enabled && primaries.length === 0)
    errors.push('there is no primary; give one instance the sync_role primary or enable an external primary');
  const primaryAddress = normalAddress(external.url);
  if (external.enabled && (external.url.trim() === '' || external.api_key.trim() === ''))
    errors.push('the external primary needs its url and its api_key');
  else if (external.enabled && primaryAddress === undefined)
    errors.push('the url of the external primary is no address');

  const ownPrimary = internals.find(
    ({ port }) => port !== undefined && localAddresses(port).includes(primaryAddress ?? ''),
  );
  if (external.enabled && ownPrimary?.role === 'subordinate')
    errors.push(`${internalLabel(ownPrimary)} is the external primary itself; choose another sync_role for it`);

  const followers = internals.filter(({ role }) => role === 'subordinate');
  const found = followers.map(internal => ({ label: internalLabel(internal), peer: peerOf(internal) }));
  const [internalPrimary] = primaries;
  const primary = external.enabled
    ? { label: primaryAddress ?? '', address: primaryAddress ?? '', apiKey: external.api_key.trim() }
    : internalPrimary && peerOf(internalPrimary);
  const taken = new Set([...internals.flatMap(({ port }) => (port === undefined ? [] : localAddresses(port)))]);
  if (external.enabled && primaryAddress !== undefined) taken.add(primaryAddress);
  for (const [index, { url, api_key, label = '' }] of externals.entries()) {
    const name = label.trim() === '' ? `the external subordinate ${index + 1}` : label.trim();
    const address = normalAddress(url);
    if (url.trim() === '' || api_key.trim() === '') warnings.push(`${name} needs its url and its api_key`);
    else if (address === undefined) warnings.push(`the url of ${name} is no address`);
    else if (taken.has(address)) warnings.push(`${name} has the address of the primary or of another subordinate`);
    else {
      taken.add(address);
      const own = (label.trim() === '' ? address : label.trim()).replaceAll('||', '|');
      const isTwice = found.some(other => other.label === own);
      if (isTwice) warnings.push(`two subordinates are called ${own}; the second goes by its address`);
      const final = isTwice ? address : own;
      found.push({ label: final, peer: { label: final, address, apiKey: api_key.trim() } });
    }
  }
  if (found.length === 0)
    errors.push(
      warnings[0] ?? 'there is no subordinate; give an instance the sync_role subordinate or add an external one',
    );
  for (const internal of [...followers, ...primaries])
    if (peerOf(internal) === undefined) warnings.push(`${internalLabel(internal)} is not ready: ${lackOf(internal)}`);
  return {
    primary: errors.length === 0 ? primary : undefined,
    subordinates: found.flatMap(({ peer }) => peer ?? []),
    labels: found.map(({ label }) => label),
    errors,
    warnings,
  };
}

/**
 * The address without its trailing slashes, and with everything else in one form; undefined unless it is http or https
 * with a host and without a user.
 */
export function normalAddress(text: string): string | undefined {
  const trimmed = text.trim();
  if (!/^https?:\/\//i.test(trimmed) || !URL.canParse(trimmed)) return undefined;
  const { protocol, host, pathname, username, password } = new URL(trimmed);
  if (host === '' || username !== '' || password !== '') return undefined;
  return `${protocol}//${host}${pathname}`.replace(/(?<!\/)\/+$/, '');
}

function internalLabel({ name }: Internal): string {
  return `internal:${name}`.replaceAll('||', '|');
}

function peerOf(internal: Internal): PeerSettings | undefined {
  const { port, apiKey } = internal;
  if (port === undefined || apiKey === undefined) return undefined;
  return { label: internalLabel(internal), address: `http://127.0.0.1:${port}`, apiKey };
}

function localAddresses(port: number): string[] {
  return [`http://127.0.0.1:${port}`, `http://localhost:${port}`];
}

function lackOf({ port }: Internal): string {
  return port === undefined ? 'it has no port' : 'its file has no API key yet';
}
