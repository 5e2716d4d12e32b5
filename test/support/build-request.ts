// The request that an install runtime gets for a build, in a folder of the test, with the output in a list.
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { NamedBlock } from '../../core/contract/config.ts';
import type { BuildRequest } from '../../plugins/installs/contract.ts';

/** The user of services in tests; null when the test cannot start programs as another user. */
export const BUILD_USER = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : null;

export interface TestBuild extends BuildRequest {
  readonly printed: string[];
}

export interface BuildRequestOptions {
  readonly facts?: Readonly<Record<string, unknown>>;
  readonly block?: Readonly<Record<string, unknown>>;
  readonly isFromSources?: boolean;
  readonly signal?: AbortSignal;
}

/** The release lies in `<dir>/release`; its final place is `<dir>/final`. */
export function buildRequest(
  dir: string,
  files: Readonly<Record<string, string>>,
  { facts = {}, block = {}, isFromSources = false, signal = new AbortController().signal }: BuildRequestOptions = {},
): TestBuild {
  const directory = path.join(dir, 'release');
  const caches = path.join(dir, 'caches');
  for (const made of [directory, caches]) mkdirSync(made, { recursive: true });
  for (const [name, text] of Object.entries(files)) {
    const file = path.join(directory, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
  if (BUILD_USER !== null) execFileSync('/bin/chown', ['-R', `${BUILD_USER.uid}:${BUILD_USER.gid}`, directory, caches]);
  const printed: string[] = [];
  const named: NamedBlock = { configKey: 'app', key: 'app', path: ['app'], processName: 'App', isHost: false, block };
  return {
    printed,
    block: named,
    facts,
    isFromSources,
    directory,
    finalDirectory: path.join(dir, 'final'),
    caches,
    user: BUILD_USER,
    version: '1.2.3',
    childJobs: 1,
    networkJobs: 2,
    signal,
    fill: text => text.replaceAll('{config_dir}', '/app'),
    output: async lines => void printed.push(...lines),
  };
}
