// A WebSocket stream that reconnects: at once with new tokens when the old ones have expired, else after growing
// pauses.
import type { Api } from './api.ts';
import { Listeners } from './listeners.ts';

const FIRST_PAUSE_MS = 1_000;
const LAST_PAUSE_MS = 30_000;
/** The host sends every other second, so a connection that is silent for this long counts as lost. */
const SILENCE_MS = 15_000;
const CREDENTIALS_REFUSED = 1008;

export type StreamState =
  | { readonly kind: 'connecting' | 'open' | 'closed' }
  | { readonly kind: 'lost'; readonly retryAtMs: number };

export interface LiveStreamOptions {
  readonly api: Api;
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  onMessage(message: unknown): void;
}

export class LiveStream {
  readonly #options: LiveStreamOptions;
  readonly changed = new Listeners();
  #state: StreamState = { kind: 'closed' };
  #socket: WebSocket | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #pauseMs = FIRST_PAUSE_MS;
  /** Whether the tokens were refreshed and the host has not accepted the new ones yet. */
  #isRefreshed = false;

  constructor(options: LiveStreamOptions) {
    this.#options = options;
  }

  get state(): StreamState {
    return this.#state;
  }

  open(): void {
    if (this.#state.kind === 'closed') this.#connect();
  }

  /** Connects now instead of after the pause. */
  retry(): void {
    if (this.#state.kind !== 'lost') return;
    this.#pauseMs = FIRST_PAUSE_MS;
    this.#connect();
  }

  close(): void {
    this.#drop();
    this.#become({ kind: 'closed' });
  }

  #connect(): void {
    this.#drop();
    this.#become({ kind: 'connecting' });
    const { api, path, query, onMessage } = this.#options;
    const socket = new WebSocket(api.streamAddress(path, query));
    this.#socket = socket;
    this.#watch();
    socket.addEventListener('message', ({ data }) => {
      if (socket !== this.#socket) return;
      this.#watch();
      this.#pauseMs = FIRST_PAUSE_MS;
      this.#isRefreshed = false;
      this.#become({ kind: 'open' });
      onMessage(JSON.parse(String(data)));
    });
    socket.addEventListener('close', ({ code }) => {
      if (socket === this.#socket) void this.#leave(code);
    });
  }

  async #leave(code: number): Promise<void> {
    this.#drop();
    if (code === CREDENTIALS_REFUSED && !this.#isRefreshed) {
      this.#become({ kind: 'connecting' });
      // A refresh that failed is tried again after the pause.
      this.#isRefreshed = await this.#options.api.refresh().catch(() => false);
      if (this.#state.kind !== 'connecting') return;
      if (this.#isRefreshed) {
        this.#connect();
        return;
      }
    }
    // The new tokens may have expired, too, while the host could not be reached.
    if (code === CREDENTIALS_REFUSED) this.#isRefreshed = false;
    this.#become({ kind: 'lost', retryAtMs: Date.now() + this.#pauseMs });
    this.#timer = setTimeout(() => this.#connect(), this.#pauseMs);
    this.#pauseMs = Math.min(this.#pauseMs * 2, LAST_PAUSE_MS);
  }

  #watch(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#leave(0), SILENCE_MS);
  }

  #drop(): void {
    clearTimeout(this.#timer);
    this.#socket?.close();
    this.#socket = undefined;
  }

  #become(state: StreamState): void {
    const isSame = state.kind === this.#state.kind && state.kind !== 'lost';
    this.#state = state;
    if (!isSame) this.changed.tell();
  }
}
