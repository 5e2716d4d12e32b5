// The parts of undici that outgoing requests use. They are loaded one after the other, because its index takes more
// than twice as long, at once, and nothing else runs meanwhile.
import { setImmediate as turn } from 'node:timers/promises';
import type { Agent, Dispatcher, EnvHttpProxyAgent, interceptors } from 'undici';

export interface HttpClient {
  readonly Agent: typeof Agent;
  readonly EnvHttpProxyAgent: typeof EnvHttpProxyAgent;
  readonly redirect: typeof interceptors.redirect;
  request(dispatcher: Dispatcher, options: Dispatcher.RequestOptions): Promise<Dispatcher.ResponseData>;
}

type Request = (this: Dispatcher, options: Dispatcher.RequestOptions) => Promise<Dispatcher.ResponseData>;

/** What an agent needs, in pieces of which none takes long. */
const PIECES = ['core/util', 'core/connect', 'dispatcher/client-h1', 'dispatcher/client-h2', 'dispatcher/pool'];

let client: Promise<HttpClient> | undefined;

export function loadHttpClient(): Promise<HttpClient> {
  client ??= load().catch(error => {
    // Without a descriptor that is free it is tried again.
    client = undefined;
    throw error;
  });
  return client;
}

async function load(): Promise<HttpClient> {
  // A build finds here that it needs the package.
  const index = import.meta.resolve('undici');
  const part = async (name: string) => {
    const { default: exported } = await import(new URL(`./lib/${name}.js`, index).href);
    await turn();
    return exported;
  };
  for (const name of PIECES) await part(name);
  const request: Request = await part('api/api-request');
  return {
    Agent: await part('dispatcher/agent'),
    EnvHttpProxyAgent: await part('dispatcher/env-http-proxy-agent'),
    redirect: await part('interceptor/redirect'),
    request: (dispatcher, options) => request.call(dispatcher, options),
  };
}
