// `/ws/metrics`: each client gets samples at its own interval. Clients with one interval share a timer, and each sample
// becomes a text once.
import type { Host, StreamClient } from '#core';
import type { Sampler } from './sampler.ts';

const DEFAULT_INTERVAL_S = 2;
const MIN_INTERVAL_S = 0.5;
const MAX_INTERVAL_S = 10;
const MS_PER_S = 1_000;
/** A client with more unsent data is not sent a sample: the next one will be newer. */
const MAX_UNSENT_BYTES = 1024 * 1024;
/** Frames are compressed: a chart may have megabytes, and a sample of many processes more than 64 KiB. */
const LONG = { compresses: true };
/** The members of a first frame when no plugin gives the past: the frontend then asks the route, which says why. */
const NOTHING_KEPT = {
  bootstrap: '"items":[],"timestamps":[],"series":null,"stats":null,"truncated":false,"bucket_seconds":null',
  history: '"items":[],"truncated":false',
};

interface Group {
  readonly clients: Set<StreamClient>;
  readonly timer: NodeJS.Timeout;
}

export class MetricsStream {
  readonly #host: Host;
  readonly #sampler: Sampler;
  readonly #groups = new Map<number, Group>();

  constructor(host: Host, sampler: Sampler) {
    this.#host = host;
    this.#sampler = sampler;
    host.stream({
      path: '/ws/metrics',
      summary: 'Samples of the machine and its processes. `interval` is in seconds.',
      pong: null,
      open: client => this.#open(client),
    });
  }

  async #open(client: StreamClient): Promise<() => void> {
    await this.#introduce(client);
    const intervalMs = intervalOf(client.query.get('interval')) * MS_PER_S;
    const group = this.#groups.get(intervalMs) ?? this.#createGroup(intervalMs);
    group.clients.add(client);
    await this.#send([client], intervalMs);
    return () => {
      group.clients.delete(client);
      if (group.clients.size > 0) return;
      clearInterval(group.timer);
      this.#groups.delete(intervalMs);
    };
  }

  #createGroup(intervalMs: number): Group {
    const clients = new Set<StreamClient>();
    const group = { clients, timer: setInterval(() => void this.#send([...clients], intervalMs), intervalMs) };
    this.#groups.set(intervalMs, group);
    return group;
  }

  /** Sends the frame with the past, if the client asked for it. `bootstrap` sends nothing when there is no sample. */
  async #introduce(client: StreamClient): Promise<void> {
    const query = Object.fromEntries(client.query);
    if (isTrue(client.query.get('bootstrap'))) {
      const [sample, members] = await Promise.all([
        this.#sampler.sample().catch(() => undefined),
        this.#members('bootstrap', query),
      ]);
      if (sample === undefined) return;
      client.send(`{"type":"bootstrap","snapshot":${this.#sampler.text(sample)},${members}}`, LONG);
    } else if (isTrue(client.query.get('history'))) {
      client.send(`{"type":"history",${await this.#members('history', query)}}`, LONG);
    }
  }

  async #members(kind: 'bootstrap' | 'history', query: Readonly<Record<string, string>>): Promise<string> {
    const [history] = this.#host.contributions('metrics.introduction').values();
    if (history === undefined) return NOTHING_KEPT[kind];
    try {
      return await history.members(kind, query);
    } catch {
      // The host has already counted and logged the failure.
      return NOTHING_KEPT[kind];
    }
  }

  /** Sends the newest sample to the clients, or nothing when none can be taken. */
  async #send(clients: readonly StreamClient[], intervalMs: number): Promise<void> {
    const sample = await this.#sampler.sample(intervalMs / 2).catch(() => undefined);
    if (sample === undefined) return;
    // Encoded once for all clients.
    const frame = Buffer.from(`{"type":"snapshot","data":${this.#sampler.text(sample)}}`);
    for (const client of clients) if (client.unsentBytes <= MAX_UNSENT_BYTES) client.send(frame, LONG);
  }
}

function isTrue(text: string | null): boolean {
  return ['1', 'true', 'yes', 'on'].includes(text?.toLowerCase() ?? '');
}

function intervalOf(text: string | null): number {
  const seconds = text === null || text.trim() === '' ? Number.NaN : Number(text);
  return Number.isFinite(seconds) ? Math.min(Math.max(seconds, MIN_INTERVAL_S), MAX_INTERVAL_S) : DEFAULT_INTERVAL_S;
}
