// A repository of Debian packages, signed by a key that is made for it.
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import type { FileAnswers, ServedFile } from '../contracts/file-server.ts';
import { type ArchiveFiles, debOf } from './archive-files.ts';

const run = promisify(execFile);

export interface PackageSpec {
  readonly name: string;
  readonly version: string;
  readonly files: ArchiveFiles;
  readonly depends?: string;
}

export interface SigningKey {
  /** In ASCII armour. */
  readonly publicKey: string;
  readonly fingerprint: string;
  sign(text: string): Promise<string>;
  /** Ends the agent that holds the key, and removes the key. */
  end(): Promise<void>;
}

export async function signingKey(): Promise<SigningKey> {
  const home = await mkdtemp(path.join(tmpdir(), 'gpg-'));
  const gpg = (...args: string[]) => run('gpg', ['--homedir', home, '--batch', '--passphrase', '', ...args]);
  await gpg('--quick-generate-key', 'Packages <packages@example>', 'ed25519', 'sign', 'never');
  const { stdout: publicKey } = await gpg('--armor', '--export');
  const { stdout: told } = await gpg('--with-colons', '--list-keys');
  return {
    publicKey,
    fingerprint: /^fpr:+([0-9A-F]+):/m.exec(told)?.[1] ?? '',
    async sign(text) {
      const file = path.join(home, 'text');
      await writeFile(file, text);
      return (await gpg('--clearsign', '--output', '-', file)).stdout;
    },
    async end() {
      await run('gpgconf', ['--homedir', home, '--kill', 'all']);
      await rm(home, { recursive: true, force: true });
    },
  };
}

export interface AptRepository {
  /** The files that the repository serves, by path. */
  readonly files: Readonly<Record<string, ServedFile>>;
  readonly packages: string;
  /** The text that `InRelease` signs; `changes` are additional fields of it. */
  release(packages?: string, changes?: string): string;
}

/** Makes a repository with the component `main` and packages for amd64 only. */
export async function aptRepository(
  specs: readonly PackageSpec[],
  key: SigningKey,
  suite = 'suite',
): Promise<AptRepository> {
  const files: Record<string, ServedFile> = { '/key.asc': { body: key.publicKey } };
  const stanzas: string[] = [];
  for (const { name, version, files: content, depends = '' } of specs) {
    const control: Record<string, string> = depends === '' ? {} : { Depends: depends };
    const bytes = await debOf(content, { name, version, control });
    const file = `pool/main/${name}_${version}_all.deb`;
    files[`/${file}`] = { body: bytes };
    const fields = {
      Package: name,
      Version: version,
      Architecture: 'all',
      ...control,
      Filename: file,
      Size: String(bytes.length),
      SHA256: sha256(bytes),
      Description: `${name}\n More of it: Version: 99`,
    };
    stanzas.push(
      Object.entries(fields)
        .map(([field, value]) => `${field}: ${value}\n`)
        .join(''),
    );
  }
  const packages = stanzas.join('\n');
  const release = (of = packages, changes = '') => {
    const list = (bytes: Buffer, name: string) => ` ${sha256(bytes)} ${bytes.length} main/binary-amd64/${name}\n`;
    const lists = list(Buffer.from(of), 'Packages') + list(gzipSync(of), 'Packages.gz');
    return `Origin: Test\nSuite: ${suite}\n${changes}MD5Sum:\n d41d8cd98f00b204e9800998ecf8427e 0 main/binary-arm64/Packages\nSHA256:\n${lists}`;
  };
  files[`/dists/${suite}/InRelease`] = { body: await key.sign(release()) };
  files[`/dists/${suite}/main/binary-amd64/Packages.gz`] = { body: gzipSync(packages) };
  return { files, packages, release };
}

export function servedFiles(files: Readonly<Record<string, ServedFile>>): FileAnswers {
  return ({ path: asked }) => files[decodeURIComponent(asked)];
}

function sha256(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}
