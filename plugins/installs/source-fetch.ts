// The network as sources see it: a failure is a Problem, because it is not a fault of the plugin.
import { type FetchOptions, Problem } from '#core';
import { networkFault } from '#kit/server-fault';
import type { VendorFetch } from './vendor-fetch.ts';

/** Wraps `fetch` so that it rejects with a Problem 502 or 504 that names the host; so does the body of a stream. */
export function sourceFetch(fetch: VendorFetch, signal: AbortSignal): VendorFetch {
  return (async (url: string, options: FetchOptions = {}) => {
    const answer = await telling(url, signal, () => fetch(url, options));
    return 'body' in answer
      ? { ...answer, body: tellingParts(url, signal, answer.body as AsyncIterable<Buffer>) }
      : answer;
  }) as VendorFetch;
}

/** Runs a function. Rejects with a Problem 502 or 504, or 503 once the signal has fired. */
export async function telling<Value>(url: string, signal: AbortSignal, run: () => Promise<Value>): Promise<Value> {
  try {
    return await run();
  } catch (error) {
    throw told(url, signal, error);
  }
}

async function* tellingParts(url: string, signal: AbortSignal, parts: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  try {
    yield* parts;
  } catch (error) {
    throw told(url, signal, error);
  }
}

function told(url: string, signal: AbortSignal, error: unknown): Problem {
  if (signal.aborted) return new Problem(503, 'the installation was cancelled; start it again', { cause: error });
  return networkFault(url, error);
}
