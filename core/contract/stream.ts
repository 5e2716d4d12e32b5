// WebSocket streams: what a plugin says about one, and one client of it.
import type { Disposer } from './plugin.ts';
import type { Identity } from './route.ts';

export interface Stream {
  /** Exact path, for example `/ws/logs`. */
  readonly path: string;
  readonly summary: string;
  readonly capability?: string | readonly string[];
  readonly access?: 'public' | 'protected';
  /** What answers an application `ping`. Default the text `pong`. */
  readonly pong?: string;
  /** Runs for each accepted client; what it returns runs when the client is gone. Deadline of each 10 s. */
  open(client: StreamClient): Disposer | undefined | Promise<Disposer | undefined>;
}

export interface StreamClient {
  readonly query: URLSearchParams;
  readonly identity: Identity;
  /** Bytes handed over but not yet taken by the network. */
  readonly unsentBytes: number;
  /** Sends one text message. Never blocks; above 4 MiB unsent the client is closed with 4409. */
  send(text: string | Buffer): void;
  close(code: number, reason: string): void;
  /** Fires when the client is gone. */
  readonly signal: AbortSignal;
}
