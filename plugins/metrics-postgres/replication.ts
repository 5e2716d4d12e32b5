// Copies samples from the SQLite file to PostgreSQL, both new and missing ones, and copies back samples that the file
// has lost.
import type { HistoryMark, KeptSample, MetricsHistory } from '../metrics-history/contract.ts';
import type { Connection } from './connection.ts';
import { FileExchanged } from './fault.ts';
import { missingTimes, payloadsAt, readMark, samplesByHour, timesOfHour, writeSamples } from './tables.ts';

const BATCH_ROWS = 1_000;
/** Fewer than `BATCH_ROWS`, because the thread of the SQLite file must compress restored samples again. */
const RESTORED_ROWS = 100;
const HOUR_S = 3_600;

export interface Replication {
  readonly connection: Connection;
  readonly history: MetricsHistory;
  readonly signal: AbortSignal;
  /** Called after each batch, with its number of samples and the mark up to which all are written. */
  wrote(samples: number, mark: HistoryMark): void;
}

/** The mark up to which the file's samples are in PostgreSQL; 0 when the file has lost changes since that mark. */
export async function startMark({ connection, history }: Replication): Promise<HistoryMark> {
  const own = await history.mark();
  const known = await readMark(connection, own.id);
  return known.seq > own.seq ? { id: own.id, seq: 0 } : known;
}

/** Writes all samples after `mark`; resolves with the mark of the last one. */
export async function writeNew(replication: Replication, mark: HistoryMark): Promise<HistoryMark> {
  const { connection, history, signal } = replication;
  let done = mark;
  for (;;) {
    signal.throwIfAborted();
    const { samples, mark: next } = await history.changesAfter(done, BATCH_ROWS);
    if (next.id !== done.id) throw new FileExchanged();
    if (next.seq === done.seq) return done;
    await writeSamples(connection, samples, next);
    done = next;
    replication.wrote(samples.length, done);
  }
}

/** Compares both sides hour by hour from `since` on (Unix seconds), and writes samples that only the file has. */
export async function writeMissing(replication: Replication, mark: HistoryMark, since: number): Promise<void> {
  const { connection, history, signal } = replication;
  const own = await history.hoursSince(since);
  const [first] = own;
  if (first === undefined) return;
  // Only from the file's first hour on: PostgreSQL may hold years, the file only the last days.
  const there = await samplesByHour(connection, first[0] * HOUR_S);
  let times: number[] = [];
  const write = async (): Promise<void> => {
    const samples: KeptSample[] = times.length === 0 ? [] : await history.samplesAt(times);
    times = [];
    if (samples.length === 0) return;
    await writeSamples(connection, samples, undefined);
    replication.wrote(samples.length, mark);
  };
  for (const [hour] of own.filter(([hour, samples]) => there.get(hour) !== samples)) {
    signal.throwIfAborted();
    for (const time of await missingTimes(connection, await history.timesOfHour(hour))) {
      if (time < since) continue;
      times.push(time);
      if (times.length >= BATCH_ROWS) await write();
    }
  }
  await write();
}

/**
 * Compares both sides hour by hour from `since` on (Unix seconds), and restores samples that the file has lost. `then`
 * is called after each batch.
 */
export async function restoreLost(replication: Replication, since: number, then: () => Promise<void>): Promise<void> {
  const { connection, history, signal } = replication;
  const [own, there] = await Promise.all([history.hoursSince(since), samplesByHour(connection, since)]);
  const known = new Map(own);
  for (const [hour, samples] of there) {
    if (known.get(hour) === samples) continue;
    signal.throwIfAborted();
    const times = (await timesOfHour(connection, hour)).filter(time => time >= since);
    const lost = await history.unknownTimes(times);
    for (let start = 0; start < lost.length; start += RESTORED_ROWS) {
      signal.throwIfAborted();
      await history.restore(await payloadsAt(connection, lost.slice(start, start + RESTORED_ROWS)));
      await then();
    }
  }
}
