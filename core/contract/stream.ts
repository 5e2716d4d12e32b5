// WebSocket streams as plugins see them: what a stream is, and one connected client.
import type { Disposer } from './disposer.ts';
import type { Identity } from './route.ts';

export interface Stream {
  /** Exact path, for example `/ws/logs`. */
  readonly path: string;
  readonly summary: string;
  readonly capability?: string | readonly string[];
  readonly access?: 'public' | 'protected';
  /** The text that answers a client's text `ping`; null for none. Default `pong`. */
  readonly pong?: string | null;
  /** Called for each accepted client. The disposer runs when the client is gone. Both have a deadline of 10 s. */
  open(client: StreamClient): Disposer | undefined | Promise<Disposer | undefined>;
}

export interface SendOptions {
  /**
   * Compresses a text above 64 KiB for a client that supports it. Use it for occasional texts only: in a fast sequence
   * of texts the compression would delay them.
   */
  readonly compresses?: boolean;
}

export interface StreamClient {
  /** The query, with each name once: the last value of a repeated name. */
  readonly query: URLSearchParams;
  readonly identity: Identity;
  /** Bytes that were sent but not yet passed to the network. */
  readonly unsentBytes: number;
  /**
   * Sends one text message without blocking; a Buffer holds its text in UTF-8. A client with more than 4 MiB of unsent
   * bytes is closed with 4409.
   */
  send(text: string | Buffer, options?: SendOptions): void;
  close(code: number, reason: string): void;
  /** Aborts when the client has disconnected. */
  readonly signal: AbortSignal;
}
