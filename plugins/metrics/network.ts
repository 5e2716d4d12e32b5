// The network interfaces that this host sees, with their counters. Addresses are not read.
import type { InterfaceUsage, NetworkCounters } from './contract.ts';
import { procNames, procText } from './proc-text.ts';

const CLASS = '/sys/class/net';
/** How long speed and state of an interface count: asking a network card for its speed may take a while. */
const LINKS_KEPT_MS = 10_000;
const IS_UP = 1;

type Link = Pick<InterfaceUsage, 'isUp' | 'speed' | 'mtu'>;

const UNKNOWN: Link = { isUp: null, speed: null, mtu: null };

export class NetworkMeter {
  #links: { readonly atMs: number; readonly byName: Map<string, Link> } = { atMs: 0, byName: new Map() };

  /** Every interface, sorted by name. */
  all(): InterfaceUsage[] {
    const counters = countersOf(procText('/proc/net/dev') ?? '');
    return [...counters.keys()].sort().map(name => this.#usage(name, counters));
  }

  /** The interfaces with these names, in their order, including those that are gone; all interfaces for null. */
  read(names: readonly string[] | null): InterfaceUsage[] {
    if (names === null) return this.all();
    const counters = countersOf(procText('/proc/net/dev') ?? '');
    return names.map(name => this.#usage(name, counters));
  }

  #usage(name: string, counters: ReadonlyMap<string, NetworkCounters>): InterfaceUsage {
    const own = counters.get(name) ?? null;
    return { name, counters: own, ...(own === null ? UNKNOWN : this.#link(name)) };
  }

  #link(name: string): Link {
    const nowMs = performance.now();
    if (nowMs - this.#links.atMs > LINKS_KEPT_MS) this.#links = { atMs: nowMs, byName: new Map() };
    const known = this.#links.byName.get(name) ?? readLink(name);
    this.#links.byName.set(name, known);
    return known;
  }
}

export function totalOf(interfaces: readonly InterfaceUsage[]): NetworkCounters {
  const present = interfaces.flatMap(({ counters }) => counters ?? []);
  const total = (key: keyof NetworkCounters): number => present.reduce((sum, counters) => sum + counters[key], 0);
  return {
    sentBytes: total('sentBytes'),
    receivedBytes: total('receivedBytes'),
    sentPackets: total('sentPackets'),
    receivedPackets: total('receivedPackets'),
    receiveErrors: total('receiveErrors'),
    sendErrors: total('sendErrors'),
    receiveDrops: total('receiveDrops'),
    sendDrops: total('sendDrops'),
  };
}

/** Parses /proc/net/dev: two header lines, then for each interface eight receive and eight send counters. */
export function countersOf(text: string): ReadonlyMap<string, NetworkCounters> {
  const rows = text
    .split('\n')
    .slice(2)
    .filter(line => line.includes(':'));
  return new Map(
    rows.map(line => {
      const end = line.lastIndexOf(':');
      const numbers = line
        .slice(end + 1)
        .trim()
        .split(/ +/)
        .map(Number);
      const number = (index: number): number => numbers[index] ?? 0;
      return [
        line.slice(0, end).trim(),
        {
          receivedBytes: number(0),
          receivedPackets: number(1),
          receiveErrors: number(2),
          receiveDrops: number(3),
          sentBytes: number(8),
          sentPackets: number(9),
          sendErrors: number(10),
          sendDrops: number(11),
        },
      ];
    }),
  );
}

function readLink(name: string): Link {
  if (name.includes('/') || !procNames(CLASS).includes(name)) return UNKNOWN;
  const flags = Number(procText(`${CLASS}/${name}/flags`)?.trim() ?? Number.NaN);
  const speed = Number(procText(`${CLASS}/${name}/speed`)?.trim() || Number.NaN);
  const mtu = Number(procText(`${CLASS}/${name}/mtu`)?.trim() || Number.NaN);
  return {
    isUp: Number.isNaN(flags) ? null : (flags & IS_UP) === IS_UP,
    // The kernel says -1 where a link has no speed.
    speed: speed >= 0 ? speed : null,
    mtu: Number.isNaN(mtu) ? null : mtu,
  };
}
