// Reads the package list of a Debian repository. Nothing is used that is not signed by the repository's key.
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { Problem } from '#core';
import { statusFault } from '#kit/server-fault';
import type { SourceRequest } from '../installs/contract.ts';
import { keyBytes } from './armored-key.ts';
import type { KnownKeys } from './known-keys.ts';
import { type PackageEntry, readPackages } from './package-index.ts';
import { signedText } from './signed-text.ts';

export interface RepositoryPlace {
  /** Address without a slash at its end. */
  readonly repository: string;
  readonly suite: string;
  readonly component: string;
  /** Address of the key. */
  readonly key: string;
  /** Fingerprint of the key, in hexadecimal; undefined when the template has none. */
  readonly fingerprint: string | undefined;
}

const LISTS_MAX_BYTES = 64 * 1024 * 1024;
const RELEASE_MAX_BYTES = 4 * 1024 * 1024;
const KEY_MAX_BYTES = 256 * 1024;
const unzip = promisify(gunzip);

/**
 * All packages of a repository for `architecture`, a Debian name. Throws a Problem: 400 when the repository has no
 * packages for it, 409 when it is signed by another key, 502 or 504 when the server's answer cannot be used.
 */
export async function repositoryPackages(
  request: SourceRequest,
  place: RepositoryPlace,
  keys: KnownKeys,
  architecture: string,
): Promise<PackageEntry[]> {
  const { host } = new URL(place.repository);
  const key = keyBytes((await receive(request, place.key, 'its key', KEY_MAX_BYTES)).toString('latin1'));
  if (key === undefined) throw new Problem(502, `${new URL(place.key).host} gives no key in ASCII; try again later`);
  const base = `${place.repository}/dists/${place.suite}/`;
  const release = await receive(request, `${base}InRelease`, `packages for ${place.suite}`, RELEASE_MAX_BYTES);
  const { text: signed, signers } = await signedText(release.toString('utf8'), key, host);
  await keys.check(place.repository, signers, place.fingerprint);
  checkAge(signed, host);
  const name = `${place.component}/binary-${architecture}/Packages`;
  const list = listIn(signed, [`${name}.gz`, name]);
  if (list === undefined)
    throw new Problem(400, `${host} has no packages for ${architecture} in ${place.suite}; run it on another machine`);
  const bytes = await receive(request, `${base}${list.file}`, 'its list of packages', Math.max(1, list.sizeBytes));
  if (createHash('sha256').update(bytes).digest('hex') !== list.sha256)
    throw new Problem(502, `The list of packages of ${host} is not the one that is signed; try again later`);
  const content = list.file.endsWith('.gz')
    ? await unzip(bytes, { maxOutputLength: LISTS_MAX_BYTES }).catch(tooLarge(host))
    : bytes;
  return readPackages(content.toString('utf8'));
}

interface SignedList {
  readonly file: string;
  readonly sizeBytes: number;
  readonly sha256: string;
}

/** The first of `files` that the release lists with a SHA-256. */
function listIn(release: string, files: readonly string[]): SignedList | undefined {
  const lines = release.split('\n');
  const start = lines.findIndex(line => line.trim() === 'SHA256:') + 1;
  const known = new Map<string, SignedList>();
  for (const line of start === 0 ? [] : lines.slice(start)) {
    if (!line.startsWith(' ')) break;
    const [sha256 = '', size = '', file = ''] = line.trim().split(/\s+/);
    if (/^[0-9a-f]{64}$/.test(sha256) && /^\d{1,8}$/.test(size))
      known.set(file, { file, sizeBytes: Number(size), sha256 });
  }
  return files.map(file => known.get(file)).find(list => list !== undefined && list.sizeBytes <= LISTS_MAX_BYTES);
}

/** Throws a Problem 502 for expired lists, by which an attacker could offer old packages with known faults. */
function checkAge(release: string, host: string): void {
  const until = /^Valid-Until: (.{1,60})$/m.exec(release)?.[1];
  if (until !== undefined && Date.parse(until) < Date.now())
    throw new Problem(
      502,
      `The lists of ${host} ended on ${until}; check the clock of this machine, or try again later`,
    );
}

async function receive(
  { fetch, signal }: SourceRequest,
  address: string,
  what: string,
  maxBytes: number,
): Promise<Buffer> {
  const answer = await fetch(address, { stream: true, maxBytes, signal });
  if (answer.status !== 200) throw statusFault(address, answer, what);
  const parts: Buffer[] = [];
  for await (const part of answer.body) parts.push(part);
  return Buffer.concat(parts);
}

function tooLarge(host: string): (cause: unknown) => never {
  return cause => {
    throw new Problem(502, `The list of packages of ${host} cannot be unpacked; try again later`, { cause });
  };
}
