// `/ws/status`: sends the state of every process on connect, at the client's interval, and after each change.
import type { Host, StreamClient } from '#core';
import { Throttle } from '#kit/throttle';
import type {} from '../../auto-restart/contract.ts';
import type { ProcessSupervisor } from '../contract.ts';
import { healthToWire, statusToWire } from './status-wire.ts';

const DEFAULT_INTERVAL_S = 2;
const MIN_INTERVAL_S = 0.5;
const MAX_INTERVAL_S = 10;
/** Pauses between two messages about changes; the shorter one while messages cost little, as with few clients. */
const [LEAST_PAUSE_MS, PAUSE_MS] = [5, 50];
/** A client with more unsent data skips messages, because each message contains the whole state. */
const MAX_UNSENT_BYTES = 1024 * 1024;

interface Subscriber {
  readonly client: StreamClient;
  readonly withHealth: boolean;
}

/** The clients that asked for the same interval. They get their messages at once, so that each form is made once. */
interface Beat {
  readonly subscribers: Set<Subscriber>;
  readonly timer: NodeJS.Timeout;
}

export class StatusStream {
  readonly #host: Host;
  readonly #supervisor: ProcessSupervisor;
  readonly #subscribers = new Set<Subscriber>();
  /** Beats by their interval in seconds. */
  readonly #beats = new Map<number, Beat>();
  #known = new Set<string>();
  /** Processes that have left the configuration and are included in one more message. */
  readonly #departed = new Set<string>();
  readonly #push = new Throttle(() => this.#sendAll(), PAUSE_MS, LEAST_PAUSE_MS);

  constructor(host: Host, supervisor: ProcessSupervisor) {
    this.#host = host;
    this.#supervisor = supervisor;
    host.stream({
      path: '/ws/status',
      summary: 'States of all processes; with `health=true` also their health. `interval` is in seconds.',
      pong: '{"type":"pong"}',
      open: client => this.#open(client),
    });
    host.tap('process.status', () => this.#push.call());
    host.tap('config.changed', () => this.#push.call());
    host.signal.addEventListener('abort', () => this.#push.cancel());
  }

  #open(client: StreamClient) {
    const subscriber = { client, withHealth: isTrue(client.query.get('health')) };
    this.#subscribers.add(subscriber);
    this.#send([subscriber]);
    const leave = this.#join(subscriber, intervalOf(client.query.get('interval')));
    return () => {
      leave();
      this.#subscribers.delete(subscriber);
    };
  }

  #join(subscriber: Subscriber, intervalS: number): () => void {
    const beat = this.#beats.get(intervalS) ?? this.#begin(intervalS);
    this.#beats.set(intervalS, beat);
    beat.subscribers.add(subscriber);
    return () => {
      beat.subscribers.delete(subscriber);
      if (beat.subscribers.size > 0) return;
      clearInterval(beat.timer);
      this.#beats.delete(intervalS);
    };
  }

  #begin(intervalS: number): Beat {
    const subscribers = new Set<Subscriber>();
    return { subscribers, timer: setInterval(() => this.#send([...subscribers]), intervalS * 1_000) };
  }

  #sendAll(): void {
    this.#noteDepartures();
    this.#send([...this.#subscribers]);
    this.#departed.clear();
  }

  #noteDepartures(): void {
    const present = new Set(this.#supervisor.list().map(({ processName }) => processName));
    for (const name of this.#known) if (!present.has(name)) this.#departed.add(name);
    this.#known = present;
  }

  /** Each form of a message is built, serialized and encoded once, whatever the number of clients. */
  #send(subscribers: readonly Subscriber[]): void {
    const forms = new Map<boolean, Buffer>();
    for (const { client, withHealth } of subscribers) {
      if (client.unsentBytes > MAX_UNSENT_BYTES) continue;
      const message = forms.get(withHealth) ?? encoded(withHealth ? this.#withHealth() : this.#running());
      forms.set(withHealth, message);
      client.send(message);
    }
  }

  #running() {
    const running = this.#supervisor.list().filter(({ status }) => status === 'running');
    return { type: 'status', running: running.map(({ processName }) => processName) };
  }

  #withHealth() {
    const list = this.#supervisor.list();
    const restarts = this.#host.find('process.restarts');
    const installs = this.#host.find('installs');
    if (this.#known.size === 0) this.#known = new Set(list.map(({ processName }) => processName));
    const processes = list.map(snapshot => ({
      ...statusToWire(snapshot, installs?.progress(snapshot.processName)),
      ...healthToWire(snapshot, this.#supervisor.health(snapshot.processName), restarts?.report(snapshot.processName)),
    }));
    const departed = [...this.#departed].map(name => ({
      process_name: name,
      status: 'stopped',
      install: null,
      healthy: null,
      health_status: null,
      health_reason: null,
      health_details: null,
    }));
    return { type: 'status', processes: [...processes, ...departed] };
  }
}

function encoded(message: object): Buffer {
  return Buffer.from(JSON.stringify(message));
}

function isTrue(text: string | null): boolean {
  return ['1', 'true', 'yes', 'on'].includes(text?.toLowerCase() ?? '');
}

function intervalOf(text: string | null): number {
  const seconds = text === null || text.trim() === '' ? Number.NaN : Number(text);
  return Number.isFinite(seconds) ? Math.min(Math.max(seconds, MIN_INTERVAL_S), MAX_INTERVAL_S) : DEFAULT_INTERVAL_S;
}
