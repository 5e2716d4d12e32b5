// The parts of undici that outgoing requests use. They are loaded one after the other, because its index takes more than
// twice as long, at once, and nothing else runs meanwhile.
import type { Agent, Dispatcher, EnvHttpProxyAgent, interceptors } from 'undici';

export interface HttpClient {
  readonly Agent: typeof Agent;
  readonly redirect: typeof interceptors.redirect;
  request(dispatcher: Dispatcher, options: Dispatcher.RequestOptions): Promise<Dispatcher.ResponseData>;
}

let client: Promise<HttpClient> | undefined;

export function loadHttpClient(): Promise<HttpClient> {
  client ??= load();
  return client;
}

/** For requests through the proxy that the environment names. */
export async function loadProxyAgent(): Promise<typeof EnvHttpProxyAgent> {
  return part('dispatcher/env-http-proxy-agent');
}

async function load(): Promise<HttpClient> {
  // What an agent needs, in pieces.
  for (const name of ['core/util', 'core/connect', 'dispatcher/client-h1', 'dispatcher/pool']) await part(name);
  const request =
    await part<(this: Dispatcher, options: object) => Promise<Dispatcher.ResponseData>>('api/api-request');
  return {
    Agent: await part('dispatcher/agent'),
    redirect: await part('interceptor/redirect'),
    request: (dispatcher, options) => request.call(dispatcher, options),
  };
}

async function part<Exported>(name: string): Promise<Exported> {
  const { default: exported } = (await import(`undici/lib/${name}.js`)) as { default: Exported };
  return exported;
}
