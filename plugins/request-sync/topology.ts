// The topology that the configuration describes: the primary, the subordinates, and what is wrong with them.
import { namesHost } from '#kit/url-host';
import type { SyncSettings } from './settings.ts';

const INTERNAL = 'internal:';

export interface Internal {
  /** The name of the instance. */
  readonly name: string;
  readonly role: 'primary' | 'subordinate';
  readonly port: number | undefined;
  /** undefined while the program has no key. */
  readonly apiKey: string | undefined;
}

export interface PeerSettings {
  readonly label: string;
  /** Without a trailing slash. */
  readonly address: string;
  readonly apiKey: string;
}

export interface Topology {
  /** undefined when there is an error. */
  readonly primary: PeerSettings | undefined;
  readonly subordinates: readonly PeerSettings[];
  /** The labels of all subordinates, including those that are not ready. */
  readonly labels: readonly string[];
  /** The errors that stop replication: faults of the configuration, or a primary that is not ready. */
  readonly errors: readonly string[];
  /** Problems that concern only one subordinate. */
  readonly warnings: readonly string[];
}

export function topologyOf(settings: SyncSettings, internals: readonly Internal[]): Topology {
  const { external_primary: external } = settings;
  const primaries = internals.filter(({ role }) => role === 'primary');
  const followers = internals.filter(({ role }) => role === 'subordinate');
  const address = external.enabled ? normalAddress(external.url) : undefined;
  const errors = primaryFaults(external, primaries);
  const twice = followers.find(internal => address !== undefined && localAddresses(internal).includes(address));
  if (twice !== undefined) errors.push(`${labelOf(twice)} is the external primary itself; give it another sync_role`);

  const outside = externalFollowers(settings, internals, address);
  const lacks = followers.filter(internal => peerOf(internal) === undefined).map(lackOf);
  const labels = [...followers.map(labelOf), ...outside.peers.map(({ label }) => label)];
  if (labels.length === 0)
    errors.push(
      outside.warnings[0] ??
        'there is no subordinate; give an instance the sync_role subordinate or add an external one',
    );
  const [own] = primaries;
  const ownPeer = own && peerOf(own);
  if (errors.length === 0 && own !== undefined && ownPeer === undefined) errors.push(lackOf(own));
  const elsewhere = address === undefined ? undefined : { label: address, address, apiKey: external.api_key.trim() };
  return {
    primary: errors.length === 0 ? (elsewhere ?? ownPeer) : undefined,
    subordinates: [...followers.flatMap(internal => peerOf(internal) ?? []), ...outside.peers],
    labels,
    errors,
    warnings: [...outside.warnings, ...lacks],
  };
}

/** What is wrong with the choice of the primary, and with an external one. */
function primaryFaults(external: SyncSettings['external_primary'], primaries: readonly Internal[]): string[] {
  const faults: string[] = [];
  if (primaries.length > 1) faults.push('more than one instance is the primary; leave sync_role primary to one');
  if (!external.enabled && primaries.length === 0)
    faults.push('there is no primary; give one instance the sync_role primary or enable an external primary');
  if (!external.enabled) return faults;
  if (primaries.length > 0) faults.push('an external primary is enabled while an instance is the primary; choose one');
  const access = accessOf('the external primary', external);
  return 'fault' in access ? [...faults, access.fault] : faults;
}

/** The external subordinates that can be used; each of the others is left out with a warning. */
function externalFollowers(
  { external_subordinates: externals }: SyncSettings,
  internals: readonly Internal[],
  primaryAddress: string | undefined,
): { readonly peers: readonly PeerSettings[]; readonly warnings: readonly string[] } {
  const peers: PeerSettings[] = [];
  const warnings: string[] = [];
  const addresses = new Set([...internals.flatMap(localAddresses), primaryAddress]);
  const labels = new Set(internals.map(labelOf));
  for (const [index, external] of externals.entries()) {
    const given = (external.label ?? '').trim().replaceAll('||', '|');
    const name = given === '' ? `the external subordinate ${index + 1}` : given;
    const access = accessOf(name, external, addresses);
    if ('fault' in access) {
      warnings.push(access.fault);
      continue;
    }
    const isTaken = labels.has(given);
    if (isTaken) warnings.push(`two subordinates are called ${given}; the second goes by its address`);
    const own = given === '' || isTaken ? access.address : given;
    addresses.add(access.address);
    labels.add(own);
    peers.push({ label: own, ...access });
  }
  return { peers, warnings };
}

/** The address and the key of an external instance, or what is wrong with them. */
function accessOf(
  name: string,
  { url, api_key }: { readonly url: string; readonly api_key: string },
  taken: ReadonlySet<string | undefined> = new Set(),
): Omit<PeerSettings, 'label'> | { readonly fault: string } {
  if (url.trim() === '' || api_key.trim() === '') return { fault: `${name} needs its url and its api_key` };
  const address = normalAddress(url);
  if (address === undefined) return { fault: `the url of ${name} is no address` };
  if (!isSendable(api_key)) return { fault: `the api_key of ${name} holds signs that no key has; copy it anew` };
  if (taken.has(address)) return { fault: `${name} has the address of the primary or of another subordinate` };
  return { address, apiKey: api_key.trim() };
}

/**
 * The address in a normal form without trailing slashes; undefined unless it is an http or https address with a host
 * and without a user.
 */
export function normalAddress(text: string): string | undefined {
  const trimmed = text.trim();
  if (!namesHost(trimmed) || !URL.canParse(trimmed)) return undefined;
  const { protocol, host, pathname, username, password } = new URL(trimmed);
  if (host === '' || username !== '' || password !== '') return undefined;
  return `${protocol}//${host}${pathname}`.replace(/(?<!\/)\/+$/, '');
}

/** Whether the key can be sent in a header. One that is copied from a page may hold signs that nobody sees. */
export function isSendable(apiKey: string): boolean {
  return /^[\x20-\x7e]*$/.test(apiKey.trim());
}

/** Whether the label is that of an instance on this machine. */
export function isInternal(label: string): boolean {
  return label.startsWith(INTERNAL);
}

function labelOf({ name }: Internal): string {
  return `${INTERNAL}${name}`.replaceAll('||', '|');
}

function peerOf(internal: Internal): PeerSettings | undefined {
  const { apiKey } = internal;
  const [address] = localAddresses(internal);
  if (address === undefined || apiKey === undefined || !isSendable(apiKey)) return undefined;
  return { label: labelOf(internal), address, apiKey };
}

function localAddresses({ port }: Internal): readonly string[] {
  return port === undefined ? [] : [`http://127.0.0.1:${port}`, `http://localhost:${port}`];
}

function lackOf(internal: Internal): string {
  const { port, apiKey } = internal;
  const key = apiKey === undefined ? 'no API key yet' : 'an API key with signs that no key has; correct it there';
  return `${labelOf(internal)} is not ready: ${port === undefined ? 'it has no port' : `its config_file has ${key}`}`;
}
