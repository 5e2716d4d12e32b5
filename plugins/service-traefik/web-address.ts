// Where the web entry point listens: at the host in its configured address, with the port of the block.
import type { NamedBlock } from '#core';
import { acceptsTcp } from '#kit/accepts-tcp';
import { isObject } from '#kit/plain-object';
import type { HealthReport } from '../process/contract.ts';

export const ENTRY_POINTS = 'entrypoints';
const DEFAULT_PORT = 18_080;
const PROBE_LIMIT_MS = 1_500;
/** `host:port/tcp`, of which each part may be missing; a number alone is a port. */
const ADDRESS = /^(?!\d+$)(\[[\da-fA-F:.%]+\]|[^:/[\]]*)(?::\d*)?(\/tcp)?$/;
const EVERYWHERE = new Set(['', '0.0.0.0', '[::]']);
const LOOPBACK = '127.0.0.1';

interface WebAddress {
  /** The host as written in the address: empty for all addresses, IPv6 in brackets. */
  readonly host: string;
  readonly port: number;
  readonly address: string;
}

export function webAddress(block: NamedBlock['block'] = {}): WebAddress {
  const { [ENTRY_POINTS]: points } = block;
  const web = isObject(points) ? points.web : undefined;
  const given = isObject(web) && typeof web.address === 'string' ? web.address.trim() : '';
  const [, host = '', protocol = ''] = ADDRESS.exec(given) ?? [];
  const port = Number(block.port ?? DEFAULT_PORT);
  return { host, port, address: `${host}:${port}${protocol}` };
}

/** Base URL for clients on this machine. */
export function webUrl(block: NamedBlock['block'] | undefined): string {
  const { host, port } = webAddress(block);
  return `http://${EVERYWHERE.has(host) ? LOOPBACK : host}:${port}`;
}

/** undefined when it listens on loopback or on all addresses, where the usual probe reaches it. */
export async function probeWeb({ block }: NamedBlock): Promise<HealthReport | undefined> {
  const { host: given, port } = webAddress(block);
  if (EVERYWHERE.has(given) || given === LOOPBACK) return undefined;
  const host = given.replace(/^\[|\]$/g, '');
  const details = { probe: 'tcp', host, port };
  if (await acceptsTcp(host, port, PROBE_LIMIT_MS)) return { status: 'healthy', healthy: true, reason: null, details };
  return { status: 'unhealthy', healthy: false, reason: `Port ${given}:${port} not responding`, details };
}
