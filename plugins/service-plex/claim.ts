// Exchanges a claim code, which the owner gets on a web page and which is valid for minutes, for the server's token.
// The server's identity is derived as in the vendor's own container (plexinc/pms-docker, 40-plex-first-run).
import { createHash, randomUUID } from 'node:crypto';
import type { FetchAnswer, FetchOptions } from '#core';
import { isObject } from '#kit/plain-object';

const LIMIT_MS = 10_000;
const MAX_BYTES = 64 * 1024;
const TOKEN = /<authentication-token>([^<]{1,200})<\/authentication-token>/;

/** Attributes of `Preferences`, as the file's format names them. */
export interface Preferences {
  readonly '@MachineIdentifier': string;
  readonly '@ProcessedMachineIdentifier': string;
  readonly '@PlexOnlineToken': string;
}

/** undefined when the server has a token already. Throws an Error, which does not hold the code, when it is refused. */
export async function claim(
  present: Readonly<Record<string, unknown>>,
  code: string,
  url: string,
  fetch: (url: string, options: FetchOptions) => Promise<FetchAnswer>,
): Promise<Preferences | undefined> {
  const { Preferences: found } = present;
  const preferences = isObject(found) ? found : {};
  if (textOf(preferences['@PlexOnlineToken']) !== '') return undefined;
  const machine = textOf(preferences['@MachineIdentifier']) || randomUUID();
  const identity =
    textOf(preferences['@ProcessedMachineIdentifier']) ||
    createHash('sha1').update(`${machine}- Plex Media Server`).digest('hex');
  const answer = await fetch(`${url}?token=${encodeURIComponent(code)}`, {
    method: 'POST',
    headers: {
      'X-Plex-Client-Identifier': identity,
      'X-Plex-Product': 'Plex Media Server',
      'X-Plex-Version': '1.1',
      'X-Plex-Provides': 'server',
      'X-Plex-Platform': 'Linux',
      'X-Plex-Platform-Version': '1.0',
      'X-Plex-Device-Name': 'PlexMediaServer',
      'X-Plex-Device': 'Linux',
    },
    timeoutMs: LIMIT_MS,
    maxBytes: MAX_BYTES,
    redirects: 0,
  });
  const token = TOKEN.exec(answer.text)?.[1]?.trim();
  if (answer.status < 200 || answer.status > 299 || token === undefined || token === '')
    throw new Error(`${new URL(url).host} did not accept the claim code (${answer.status})`);
  return {
    '@MachineIdentifier': machine,
    '@ProcessedMachineIdentifier': identity,
    '@PlexOnlineToken': token,
  };
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
