// Opens the native listener, and logs its address, who has the port if it is in use, and that no login is needed.
import type { Logger } from '../contract/log.ts';
import { urlHost } from '../kit/client-host.ts';
import { errorText } from '../kit/error-text.ts';
import { isLoopback } from '../kit/loopback.ts';
import type { HttpServer } from './entrance.ts';
import type { Settings } from './settings.ts';
import { version } from './version.ts';

const RETRY_MS = 10_000;
const REMEDY = 'dumb.api_service.host and dumb.api_service.port choose another';

export interface ListenOptions {
  readonly api: Settings['api'];
  /** Takes precedence over the settings. */
  readonly override: { readonly host?: string; readonly port?: number };
  readonly hasLogin: () => boolean;
  readonly log: Logger;
}

/** Resolves with the address; null where the settings want no listener. Throws an Error when the port stays taken. */
export async function listen(
  http: HttpServer,
  { api, override, hasLogin, log }: ListenOptions,
): Promise<{ host: string; port: number } | null> {
  if (!api.enabled) {
    log.warn('the API is switched off by dumb.api_service.enabled; processes are supervised without it');
    return null;
  }
  const { host = api.host, port = api.port } = override;
  const wait = `waiting up to ${RETRY_MS / 1_000} s until it is free`;
  const taken = (holder: string): void => log.warn(`port ${port} is in use by ${holder}; ${wait}; ${REMEDY}`);
  const address = await http.listen({ host, port, retryMs: RETRY_MS, taken }).catch((cause: unknown) => {
    throw new Error(`${errorText(cause)}; ${REMEDY}`, { cause });
  });
  log.info(`Stackwarden ${version} answers on http://${urlHost(address.host)}:${address.port}`);
  if (!isLoopback(address.host) && !hasLogin())
    log.warn(`listening on ${address.host} while authentication is off: everybody who reaches it is in control`);
  return address;
}
