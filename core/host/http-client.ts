// The parts of undici that outgoing requests use. They are loaded one by one, with a turn of the event loop after each,
// because loading its index takes more than twice as long and blocks the loop.
import { setImmediate as turn } from 'node:timers/promises';
import type { Agent, Dispatcher, EnvHttpProxyAgent, interceptors } from 'undici';

export interface HttpClient {
  readonly Agent: typeof Agent;
  readonly EnvHttpProxyAgent: typeof EnvHttpProxyAgent;
  readonly redirect: typeof interceptors.redirect;
  request(dispatcher: Dispatcher, options: Dispatcher.RequestOptions): Promise<Dispatcher.ResponseData>;
}

type Request = (this: Dispatcher, options: Dispatcher.RequestOptions) => Promise<Dispatcher.ResponseData>;

/** Modules that an agent needs, loaded beforehand so that no single step takes long. */
const PIECES = ['core/util', 'core/connect', 'dispatcher/client-h1', 'dispatcher/client-h2', 'dispatcher/pool'];

let client: Promise<HttpClient> | undefined;

export function loadHttpClient(): Promise<HttpClient> {
  client ??= load().catch(error => {
    // The next request tries again: perhaps no file descriptor was free.
    client = undefined;
    throw error;
  });
  return client;
}

async function load(): Promise<HttpClient> {
  // From this literal a build knows that it needs the package.
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
