// WebSocket streams as plugins see them: the definition of a stream, and one connected client.
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
  /** Runs for each accepted client; what it returns runs when the client is gone. Deadline of each 10 s. */
  open(client: StreamClient): Disposer | undefined | Promise<Disposer | undefined>;
}

export interface SendOptions {
  /**
   * Makes a text above 64 KiB smaller for a client that can read it so. For texts that come now and then: in a flood
   * the compression would keep the client from what it could read.
   */
  readonly compresses?: boolean;
}

export interface StreamClient {
  /** Each name once: of a repeated one the last value counts. */
  readonly query: URLSearchParams;
  readonly identity: Identity;
  /** Bytes that were sent but that the network has not yet taken. */
  readonly unsentBytes: number;
  /** Sends one text message without blocking. A client with more than 4 MiB of unsent bytes is closed with 4409. */
  send(text: string | Buffer, options?: SendOptions): void;
  close(code: number, reason: string): void;
  /** Aborts when the client is gone. */
  readonly signal: AbortSignal;
}
