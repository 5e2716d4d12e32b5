// The checksum that a file of a release must have, as its publisher gives it.
import { Problem } from '#core';
import { statusFault } from '#kit/server-fault';
import type { Digest, SourceRequest } from '../installs/contract.ts';
import type { Asset } from './published-release.ts';

const MAX_BYTES = 1024 * 1024;
const LIMIT_MS = 12_000;
const LINE = /^([0-9a-f]{64}|[0-9a-f]{128})\s+\*?(?:\.\/)?(\S+)$/i;

/**
 * The checksum in `list`, a file of the release with a line for each file. Throws a Problem 502 when it has no line.
 */
export async function listedDigest(
  { name }: Asset,
  { url, headers, list }: { readonly url: string; readonly headers: Record<string, string>; readonly list: string },
  { fetch, signal }: SourceRequest,
): Promise<Digest> {
  const answer = await fetch(url, { headers, maxBytes: MAX_BYTES, timeoutMs: LIMIT_MS, signal });
  if (answer.status !== 200) throw statusFault(url, answer, list);
  for (const line of answer.text.split('\n')) {
    const [, hex, file] = LINE.exec(line.trim()) ?? [];
    if (hex !== undefined && file === name) return digestOf(hex);
  }
  throw new Problem(502, `${list} of ${new URL(url).host} tells no sum of ${name}; choose another release`);
}

/** The checksum that the API gives, such as `sha256:...`; undefined when it gives none. */
export function toldDigest({ digest }: Asset): Digest | undefined {
  const [, hex] = /^sha(?:256|512):([0-9a-f]{64}|[0-9a-f]{128})$/.exec(digest ?? '') ?? [];
  return hex === undefined ? undefined : digestOf(hex);
}

function digestOf(hex: string): Digest {
  return { algorithm: hex.length === 64 ? 'sha256' : 'sha512', hex: hex.toLowerCase() };
}
