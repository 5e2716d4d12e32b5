// Tries an address and a key that a user has typed in, and stores nothing.
import { type Host, Problem } from '#core';
import { WorkQueue } from '#kit/work-queue';
import { HttpRequestManager } from './http-request-manager.ts';
import { RemoteError } from './remote-error.ts';
import type { SyncSettings } from './settings.ts';
import { isSendable, normalAddress } from './topology.ts';

const LIMIT_MS = 10_000;
const MAX_BYTES = 1024 * 1024;
const MAX_PORT = 65_535;
/** The mask that answers show in place of a key. */
const MASK = '********';

/** The status of the request manager. Throws a Problem 400 that says what is wrong. */
export async function testConnection(
  host: Host,
  { url, apiKey }: { readonly url: string; readonly apiKey: string },
  settings: SyncSettings,
): Promise<Record<string, unknown>> {
  if (url.trim() === '' || apiKey.trim() === '') throw new Problem(400, 'Both the url and the api_key are needed.');
  if (!isSendable(apiKey)) throw new Problem(400, 'The api_key holds signs that no key has; copy it anew.');
  const address = addressOf(url.trim());
  const key = apiKey.trim() === MASK ? storedKey(address, settings) : apiKey.trim();
  const remote = new HttpRequestManager({
    host,
    address,
    apiKey: key,
    lane: new WorkQueue({ concurrency: 1 }),
    stopping: host.signal,
    signal: AbortSignal.timeout(LIMIT_MS),
    maxBytes: MAX_BYTES,
  });
  try {
    const status = await remote.status();
    // Checked separately, because the status is answered without a key.
    const refusal = await remote.keyRefusal().catch(() => undefined);
    if (refusal !== undefined) throw new Problem(400, `Remote answered HTTP ${refusal}: the key was refused`);
    return status;
  } catch (error) {
    if (!(error instanceof RemoteError)) throw error;
    const { status, message } = error;
    if (status === undefined) throw new Problem(400, `The test failed: ${message}.`, { cause: error });
    const refusal = error.isForbidden ? ': the key was refused' : '';
    throw new Problem(400, `Remote answered HTTP ${status}${refusal}`, { cause: error });
  }
}

function addressOf(url: string): string {
  const address = normalAddress(url);
  if (address !== undefined) return address;
  if (!/^https?:\/\//i.test(url)) throw new Problem(400, 'The url must begin with http:// or https://.');
  if (URL.canParse(url) && new URL(url).username + new URL(url).password !== '')
    throw new Problem(400, 'The url must not hold a user name or a password; the key is given beside it.');
  const port = /^https?:\/\/[^/?#]*:(\d+)(?:[/?#]|$)/i.exec(url)?.[1];
  if (Number(port) > MAX_PORT) throw new Problem(400, `The url has port ${port}; the highest is ${MAX_PORT}.`);
  if (/^https?:\/\/[^/?#]/i.test(url)) throw new Problem(400, 'The url cannot be read; see to its host and its port.');
  throw new Problem(400, 'The url has no host.');
}

function storedKey(address: string, { external_primary, external_subordinates }: SyncSettings): string {
  const entries = [external_primary, ...external_subordinates];
  const stored = entries.find(({ url, api_key }) => api_key !== '' && normalAddress(url) === address);
  if (stored === undefined)
    throw new Problem(400, 'The key is masked, and none is stored for this address; type the key in.');
  return stored.api_key;
}
