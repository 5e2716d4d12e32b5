// The least and the greatest value of each curve over a span of time. Percentages count as they are, counters as rates
// between neighbouring samples.
import type { Pair, TimedPoint } from './codec/compact-item.ts';

export interface Range {
  readonly min: number;
  readonly max: number;
}

export const CURVES = [
  'cpu',
  'mem',
  'disk',
  'inode',
  'disk_read_rate',
  'disk_write_rate',
  'net_sent_rate',
  'net_recv_rate',
] as const;

export type Curve = (typeof CURVES)[number];

/** The members have the names of the wire, because they are stored in the form of answers. Empty curves are absent. */
export interface Ranges {
  readonly curves: Partial<Record<Curve, Range>>;
  /** Percentages of used space and inodes, by path. */
  readonly filesystems: Record<string, { disk?: Range; inode?: Range }>;
  /** Bytes a second, by name. */
  readonly network_interfaces: Record<string, { sent_rate?: Range; recv_rate?: Range }>;
}

const MS_PER_S = 1_000;

/** Bytes a second between two readings of a counter; null when one is missing, or counter or clock went back. */
export function rate(before: number | null | undefined, now: number | null | undefined, spanMs: number): number | null {
  if (typeof before !== 'number' || typeof now !== 'number' || spanMs <= 0 || now < before) return null;
  return ((now - before) / spanMs) * MS_PER_S;
}

/** The values of the eight curves at a point; rates are computed from the point before it. */
export function curveValues(point: TimedPoint, before: TimedPoint | undefined): Record<Curve, number | null> {
  const spanMs = before === undefined ? 0 : point.atMs - before.atMs;
  return {
    cpu: point.cpu,
    mem: point.mem,
    disk: point.disk,
    inode: point.inode,
    disk_read_rate: rate(before?.diskRead, point.diskRead, spanMs),
    disk_write_rate: rate(before?.diskWritten, point.diskWritten, spanMs),
    net_sent_rate: rate(before?.netSent, point.netSent, spanMs),
    net_recv_rate: rate(before?.netReceived, point.netReceived, spanMs),
  };
}

/** Bytes a second, sent and received, of an interface at a point. */
export function interfaceRates(name: string, point: TimedPoint, before: TimedPoint | undefined): Pair {
  const spanMs = before === undefined ? 0 : point.atMs - before.atMs;
  const [sent, received] = point.interfaces.get(name) ?? [null, null];
  const earlier = before?.interfaces.get(name);
  return [rate(earlier?.[0], sent, spanMs), rate(earlier?.[1], received, spanMs)];
}

/** Joins the values of points and ranges that are known already. */
export class RangeCollector {
  readonly #curves = new Map<Curve, Range>();
  readonly #fileSystems = new Map<string, { disk?: Range; inode?: Range }>();
  readonly #interfaces = new Map<string, { sent_rate?: Range; recv_rate?: Range }>();

  addPoint(point: TimedPoint, before: TimedPoint | undefined): void {
    const values = curveValues(point, before);
    for (const curve of CURVES) this.#addCurve(curve, rangeOf(values[curve]));
    for (const [name, [space, inodes]] of point.fileSystems)
      join(this.#fileSystems, name, { disk: rangeOf(space), inode: rangeOf(inodes) });
    for (const name of point.interfaces.keys()) {
      const [sent, received] = interfaceRates(name, point, before);
      join(this.#interfaces, name, { sent_rate: rangeOf(sent), recv_rate: rangeOf(received) });
    }
  }

  addRanges({ curves, filesystems, network_interfaces }: Ranges): void {
    for (const curve of CURVES) this.#addCurve(curve, curves[curve]);
    for (const [name, ranges] of Object.entries(filesystems)) join(this.#fileSystems, name, ranges);
    for (const [name, ranges] of Object.entries(network_interfaces)) join(this.#interfaces, name, ranges);
  }

  /** The joined ranges; null when nothing with a value was added. */
  result(): Ranges | null {
    if (this.#curves.size + this.#fileSystems.size + this.#interfaces.size === 0) return null;
    return {
      curves: Object.fromEntries(this.#curves),
      filesystems: Object.fromEntries(this.#fileSystems),
      network_interfaces: Object.fromEntries(this.#interfaces),
    };
  }

  #addCurve(curve: Curve, range: Range | undefined): void {
    const joined = joinedRange(this.#curves.get(curve), range);
    if (joined !== undefined) this.#curves.set(curve, joined);
  }
}

function join<Key extends string>(
  all: Map<string, Partial<Record<Key, Range>>>,
  name: string,
  added: Partial<Record<Key, Range | undefined>>,
): void {
  const known: Partial<Record<Key, Range>> = all.get(name) ?? {};
  for (const key of Object.keys(added) as Key[]) {
    const joined = joinedRange(known[key], added[key]);
    if (joined !== undefined) known[key] = joined;
  }
  all.set(name, known);
}

function rangeOf(value: number | null): Range | undefined {
  return value === null ? undefined : { min: value, max: value };
}

function joinedRange(a: Range | undefined, b: Range | undefined): Range | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return { min: Math.min(a.min, b.min), max: Math.max(a.max, b.max) };
}
