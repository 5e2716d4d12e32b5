// The connections of one plugin's outgoing requests: requests that connect in different ways share none.
import type { LookupFunction } from 'node:net';
import { isIPv6 } from 'node:net';
import type { Dispatcher } from 'undici';
import type { FetchOptions } from '../contract/fetch.ts';
import type { HttpClient } from './http-client.ts';

const CONNECT_TIMEOUT_MS = 15_000;
/** The time-outs of undici are off, because each request has one timer for all of its waits. */
const LIMITS = { keepAliveTimeout: 10_000, headersTimeout: 0, bodyTimeout: 0 };
/** How many agents are kept, each with its own connections. One more closes the oldest after its last request. */
const MAX_AGENTS = 8;

export class HttpAgents {
  readonly #agents = new Map<string, Dispatcher>();

  /** The agent for these options. An agent for given `addresses` is new, and the caller closes it. */
  agentFor(client: HttpClient, options: FetchOptions): Dispatcher {
    if (options.addresses !== undefined) return createAgent(client, options);
    const { connectTimeoutMs = CONNECT_TIMEOUT_MS, verifyTls = true, proxied = false } = options;
    const kind = `${connectTimeoutMs} ${verifyTls}${proxied ? ' proxied' : ''}`;
    const agent = this.#agents.get(kind) ?? createAgent(client, options);
    this.#agents.set(kind, agent);
    const [oldest] = this.#agents;
    if (this.#agents.size > MAX_AGENTS && oldest !== undefined) {
      this.#agents.delete(oldest[0]);
      void oldest[1].close();
    }
    return agent;
  }

  async close(): Promise<void> {
    await Promise.all([...this.#agents.values()].map(agent => agent.destroy()));
  }
}

function createAgent({ Agent, EnvHttpProxyAgent }: HttpClient, options: FetchOptions): Dispatcher {
  const { connectTimeoutMs: timeout = CONNECT_TIMEOUT_MS, verifyTls: rejectUnauthorized = true, addresses } = options;
  const lookup = addresses === undefined ? {} : { lookup: lookupAmong(addresses) };
  const settings = { connect: { timeout, rejectUnauthorized, ...lookup }, ...LIMITS };
  if (options.proxied !== true) return new Agent(settings);
  // Through a proxy there are two connections, and neither uses `settings.connect`.
  return new EnvHttpProxyAgent({ ...settings, proxyTls: { timeout }, requestTls: { rejectUnauthorized } });
}

/** Gives the same addresses for every name. */
function lookupAmong(addresses: readonly string[]): LookupFunction {
  const all = addresses.map(address => ({ address, family: isIPv6(address) ? 6 : 4 }));
  return (_name, { all: wantsAll }, found) => {
    const [first] = all;
    if (first === undefined) found(new Error('there is no address to connect to'), '');
    else if (wantsAll === true) found(null, all);
    else found(null, first.address, first.family);
  };
}
