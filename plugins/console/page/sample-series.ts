// The curves of the charts, from the history and from new samples. Counters become rates between two samples.
import type { ChartAnswer, Sample } from './wire.ts';

const CURVES = ['cpu', 'mem', 'disk_read_rate', 'disk_write_rate', 'net_recv_rate', 'net_sent_rate'] as const;

export type Curve = (typeof CURVES)[number];

/** How many samples are held of the time that the curves reach back. */
const MAX_POINTS = 20_000;
/** Ten hours, where the host keeps no history. */
const FIRST_SPAN_S = 36_000;
/** A longer time without a sample is a gap. */
const GAP_S = 60;
const GAP_BUCKETS = 3;

export class SampleSeries {
  readonly #values: Record<Curve, (number | null)[]> = emptyValues();
  #times: number[] = [];
  #last: Sample | undefined;
  /** How far back the curves reach. */
  #spanS = FIRST_SPAN_S;

  /** Unix seconds. */
  get times(): readonly number[] {
    return this.#times;
  }

  of(curve: Curve): readonly (number | null)[] {
    return this.#values[curve];
  }

  /** Replaces all values by those of the history, which begins `spanS` seconds ago, as the curves do from now on. */
  replace({ timestamps, series, bucket_seconds: bucketS }: ChartAnswer, spanS: number): void {
    this.#spanS = spanS;
    this.#times = [];
    for (const curve of CURVES) this.#values[curve] = [];
    const gapS = Math.max(GAP_S, (bucketS ?? 0) * GAP_BUCKETS);
    for (const [index, time] of timestamps.entries())
      this.#push(time, gapS, curve => (series?.[curve] as readonly (number | null)[] | undefined)?.[index] ?? null);
  }

  add(sample: Sample): void {
    const { timestamp, system } = sample;
    const last = this.#last;
    this.#last = sample;
    if (timestamp === this.#times.at(-1)) return;
    // The clock of the host was set back.
    while (timestamp < (this.#times.at(-1) ?? 0)) this.#drop(-1, 1);
    const spanS = last === undefined ? 0 : timestamp - last.timestamp;
    const [disk, net] = [last?.system.disk_io, last?.system.net_io];
    const now: Record<Curve, number | null> = {
      cpu: system.cpu_percent,
      mem: system.mem.percent,
      disk_read_rate: rate(disk?.read_bytes, system.disk_io.read_bytes, spanS),
      disk_write_rate: rate(disk?.write_bytes, system.disk_io.write_bytes, spanS),
      net_recv_rate: rate(net?.recv_bytes, system.net_io.recv_bytes, spanS),
      net_sent_rate: rate(net?.sent_bytes, system.net_io.sent_bytes, spanS),
    };
    const stepS = this.#spanS / MAX_POINTS;
    const [before, newest] = this.#times.slice(-2);
    // The newest sample is always shown, and stays when it is a step away from the one before.
    if (before !== undefined && newest !== undefined && newest - before < stepS) this.#drop(-1, 1);
    this.#push(timestamp, Math.max(GAP_S, stepS * GAP_BUCKETS), curve => now[curve]);
    const outside = this.#times.findIndex(time => time >= timestamp - this.#spanS);
    this.#drop(0, Math.max(outside, 0));
  }

  #drop(from: number, count: number): void {
    this.#times.splice(from, count);
    for (const curve of CURVES) this.#values[curve].splice(from, count);
  }

  /** Adds a value to each curve, and a gap before it when there was no sample for `gapS` seconds. */
  #push(time: number, gapS: number, valueAt: (curve: Curve) => number | null): void {
    const last = this.#times.at(-1);
    if (last !== undefined && time - last > gapS) {
      this.#times.push(last + 1);
      for (const curve of CURVES) this.#values[curve].push(null);
    }
    this.#times.push(time);
    for (const curve of CURVES) this.#values[curve].push(valueAt(curve));
  }
}

function emptyValues(): Record<Curve, (number | null)[]> {
  return Object.fromEntries(CURVES.map(curve => [curve, []])) as unknown as Record<Curve, (number | null)[]>;
}

/** Bytes a second; null when a reading is missing, or the counter or the clock went back. */
function rate(before: number | null | undefined, now: number | null | undefined, spanS: number): number | null {
  if (typeof before !== 'number' || typeof now !== 'number' || spanS <= 0 || now < before) return null;
  return (now - before) / spanS;
}
