// Logs changes that were refused, with the address of the client; in a flood, only the number of the rest.
import type { IncomingMessage } from 'node:http';
import type { Logger } from '../contract/log.ts';
import { isSafe } from './cors-policy.ts';

const STATUSES = [401, 403];
const WINDOW_MS = 60_000;
const LINES_PER_WINDOW = 10;
const MAX_LENGTH = 300;

export class RefusedChanges {
  readonly #log: Logger;
  #windowBeganMs = Number.NEGATIVE_INFINITY;
  #count = 0;

  constructor(log: Logger) {
    this.#log = log;
  }

  /** Logs an answer 401 or 403 to a request that may change something; ignores all others. */
  note(request: IncomingMessage, { status, reason }: { readonly status: number; readonly reason: string }): void {
    const { method, url = '', socket } = request;
    if (!STATUSES.includes(status) || isSafe(method)) return;
    const nowMs = performance.now();
    if (nowMs - this.#windowBeganMs >= WINDOW_MS) {
      const more = this.#count - LINES_PER_WINDOW;
      if (more > 0) this.#log.info(`${more} more changes were refused`);
      this.#windowBeganMs = nowMs;
      this.#count = 0;
    }
    this.#count += 1;
    if (this.#count > LINES_PER_WINDOW) return;
    // The path is the client's text, and its query may hold secrets.
    const [path = ''] = url.split('?', 1);
    const text = `${method} ${path} from ${socket.remoteAddress} was refused (${status}): ${reason}`;
    this.#log.info(text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, ' ').slice(0, MAX_LENGTH));
  }
}
