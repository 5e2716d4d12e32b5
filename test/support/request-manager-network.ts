// Request managers that are called in process, by a function like `host.fetch`, on a clock of the test.
import type { FetchAnswer, FetchOptions } from '../../core/contract/fetch.ts';
import { API_PATH, type RequestManager } from './request-manager.ts';
import { deliver } from './request-manager-delivery.ts';

export interface ManagerNetwork {
  fetch(url: string, options?: FetchOptions): Promise<FetchAnswer>;
}

/** `managers` are given by their origins. `wait` is called for the time of a slow or absent answer. */
export function managerNetwork(
  managers: ReadonlyMap<string, RequestManager>,
  wait: (ms: number, signal?: AbortSignal) => Promise<void>,
): ManagerNetwork {
  return {
    async fetch(url, options = {}) {
      const { signal, timeoutMs = 15_000, method = 'GET', redirects = 5 } = options;
      signal?.throwIfAborted();
      const { origin, host, pathname, searchParams: query } = new URL(url);
      const manager = managers.get(origin);
      if (manager === undefined) throw failure('ENOTFOUND', `getaddrinfo ENOTFOUND ${host}`);
      if (manager.isDown) throw failure('ECONNREFUSED', `connect ECONNREFUSED ${host}`);
      const call = {
        method,
        path: pathname.slice(pathname.indexOf(API_PATH) + API_PATH.length),
        query,
        headers: lowered(options.headers ?? {}),
        body: options.json ?? (typeof options.body === 'string' ? JSON.parse(options.body) : undefined),
      };
      const { delayMs, end, status, headers, text } = deliver(manager, call);
      if (end === 'never' || delayMs >= timeoutMs) {
        await wait(timeoutMs, signal);
        throw new DOMException(`${host} did not answer within ${timeoutMs} ms`, 'TimeoutError');
      }
      if (delayMs > 0) await wait(delayMs, signal);
      if (end === 'cut') throw failure('UND_ERR_SOCKET', 'other side closed');
      if (headers.location !== undefined && redirects > 0) throw new Error('redirects are not followed here');
      return { status, headers, text, json: () => JSON.parse(text) };
    },
  };
}

function lowered(headers: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

function failure(code: string, message: string): Error {
  return Object.assign(new Error(message), { code });
}
