// Asks the Plex server whether any client is playing something.
import type { Host, NamedBlock } from '#core';
import type {} from '../config-files/contract.ts';

const LIMIT_MS = 10_000;
const MAX_BYTES = 4 * 1024 * 1024;
const ROOT_ELEMENT = /^[^<]*(?:<\?[^>]*>[^<]*)?<MediaContainer([^>]*)/;

/** Whether no session is active. Throws an Error when the server does not say so. */
export async function isIdle(host: Host, named: NamedBlock): Promise<boolean> {
  const files = host.find('config.files');
  const { Preferences: found } = (await files?.values(named)) ?? {};
  const token = (found as Record<string, unknown> | undefined)?.['@PlexOnlineToken'];
  const answer = await host.fetch(`http://127.0.0.1:${Number(named.block.port)}/status/sessions`, {
    headers: typeof token === 'string' ? { 'X-Plex-Token': token } : {},
    timeoutMs: LIMIT_MS,
    maxBytes: MAX_BYTES,
    redirects: 0,
  });
  const [, attributes = ''] = ROOT_ELEMENT.exec(answer.text) ?? [];
  const size = /\ssize="(\d+)"/.exec(attributes)?.[1];
  if (answer.status !== 200 || size === undefined)
    throw new Error(`the server does not tell who watches (${answer.status}); claim it, so that it can be asked`);
  return size === '0';
}
