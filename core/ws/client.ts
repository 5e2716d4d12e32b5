// One WebSocket client of a stream. Its unsent data is bounded, and what the stream opened for it is disposed of
// exactly once.
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';
import type { Disposer } from '../contract/plugin.ts';
import type { Identity } from '../contract/route.ts';
import type { SendOptions, StreamClient } from '../contract/stream.ts';
import type { UnsentBudget } from './unsent-budget.ts';

/** A client with more unsent data than this is disconnected. */
const UNSENT_LIMIT_BYTES = 4 * 1024 * 1024;
/** A client with more unsent data than this is slow: it is cut off while all clients together exceed the budget. */
const SLOW_BYTES = 256 * 1024;

/** Time for a client to answer a close before its connection is cut. */
const CLOSE_MS = 5000;

const MISSED_PONGS = 2;
/** A client that sends application pings counts as gone after this many protocol pings without one. */
const MISSED_PINGS = 9;

export interface ClientOptions {
  readonly socket: WebSocket;
  /** The connection below the WebSocket. */
  readonly connection: Duplex;
  readonly query: URLSearchParams;
  readonly identity: Identity;
  readonly authorization: string | undefined;
  readonly peer: string | undefined;
  /** The network of the client; the places of a stream are shared out between networks. */
  readonly network: string;
  /** null when pings of the client are not answered. */
  readonly pong: string | null;
  readonly unsent: UnsentBudget;
  /** Runs a function as code of the plugin that owns the stream. */
  readonly runAs: (fn: () => void) => void;
  /** Called once, when the client is gone. */
  readonly onGone: (client: Client) => void;
}

export class Client implements StreamClient {
  readonly query: URLSearchParams;
  readonly identity: Identity;
  readonly authorization: string | undefined;
  readonly peer: string | undefined;
  readonly network: string;
  readonly #socket: WebSocket;
  readonly #options: ClientOptions;
  readonly #abort = new AbortController();
  #dispose: Disposer | undefined;
  /** The part of the budget that this client's unsent data takes. */
  #countedBytes = 0;
  #unanswered = 0;
  /** Protocol pings since the client's last application ping; undefined while it has sent none. */
  #quiet: number | undefined;

  /**
   * Whether a pong is unsent. Further pings get none meanwhile, because an unsent text takes far more than its bytes.
   */
  #isPongUnsent = false;

  constructor(options: ClientOptions) {
    this.#options = options;
    this.#socket = options.socket;
    this.query = options.query;
    this.identity = options.identity;
    this.authorization = options.authorization;
    this.peer = options.peer;
    this.network = options.network;
    this.#socket.on('message', (data, isBinary) => this.#receive(data as Buffer, isBinary));
    this.#socket.on('pong', () => {
      this.#unanswered = 0;
    });
    this.#socket.on('error', () => this.#socket.terminate());
    this.#socket.on('close', () => {
      this.#count(0);
      this.#finish();
    });
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  get gone(): boolean {
    return this.#abort.signal.aborted;
  }

  get unsentBytes(): number {
    return this.#socket.bufferedAmount;
  }

  /** Adds a disposer for what the stream opened for this client; it runs at once when the client is gone already. */
  own(dispose: Disposer): void {
    this.#dispose = dispose;
    if (this.gone) void this.#runDispose();
  }

  send(text: string | Buffer, { compresses = false }: SendOptions = {}): void {
    this.#write(text, compresses);
  }

  #write(text: string | Buffer, compresses: boolean, sent?: () => void): void {
    if (this.gone) return;
    if (this.unsentBytes > UNSENT_LIMIT_BYTES) {
      this.close(4409, 'The client reads too slowly');
      return;
    }
    if (this.#options.unsent.isExceeded && this.unsentBytes > SLOW_BYTES) {
      this.#cut();
      return;
    }
    this.#socket.send(text, { binary: false, compress: compresses }, error => {
      if (error !== undefined && error !== null) this.#socket.terminate();
      else this.#count(this.unsentBytes);
      sent?.();
    });
    this.#count(this.unsentBytes);
  }

  close(code: number, reason: string): void {
    if (this.gone) return;
    this.#socket.close(code, fitted(reason));
    const timer = setTimeout(() => (this.unsentBytes > 0 ? this.#cut() : this.#socket.terminate()), CLOSE_MS);
    this.#socket.once('close', () => clearTimeout(timer));
    this.#finish();
  }

  terminate(): void {
    this.#socket.terminate();
    this.#finish();
  }

  /**
   * Resets the connection of a client that does not read. After an orderly close the kernel would hold up to 4 MiB for
   * the client, and go on trying for minutes to deliver them.
   */
  #cut(): void {
    const { connection } = this.#options;
    if (connection instanceof Socket) connection.resetAndDestroy();
    this.terminate();
  }

  /** Runs once per interval of the heartbeat; a client that has not answered two pings is disconnected. */
  beat(): void {
    if (this.#quiet !== undefined) this.#quiet += 1;
    if (this.#unanswered >= MISSED_PONGS || (this.#quiet ?? 0) > MISSED_PINGS) {
      this.#cut();
      return;
    }
    this.#unanswered += 1;
    this.#socket.ping();
  }

  #count(bytes: number): void {
    this.#options.unsent.change(bytes - this.#countedBytes);
    this.#countedBytes = bytes;
  }

  #receive(data: Buffer, isBinary: boolean): void {
    if (isBinary || !isPing(data.toString('utf8'))) return;
    this.#quiet = 0;
    const { pong } = this.#options;
    if (pong === null || this.#isPongUnsent) return;
    this.#isPongUnsent = true;
    this.#write(pong, false, () => {
      this.#isPongUnsent = false;
    });
  }

  #finish(): void {
    if (this.gone) return;
    this.#options.runAs(() => this.#abort.abort());
    this.#options.onGone(this);
    void this.#runDispose();
  }

  async #runDispose(): Promise<void> {
    const dispose = this.#dispose;
    this.#dispose = undefined;
    try {
      await dispose?.();
    } catch {
      // `invoke` has counted and logged the error.
    }
  }
}

function isPing(text: string): boolean {
  if (text === 'ping') return true;
  if (!text.includes('"ping"')) return false;
  try {
    const message: unknown = JSON.parse(text);
    return typeof message === 'object' && message !== null && 'type' in message && message.type === 'ping';
  } catch {
    return false;
  }
}

/** Shortens a close reason to the 123 bytes that the protocol allows. */
export function fitted(reason: string): string {
  return Buffer.from(reason)
    .subarray(0, 123)
    .toString('utf8')
    .replace(/\uFFFD$/, '');
}
