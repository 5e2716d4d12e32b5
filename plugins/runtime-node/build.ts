// Builds a release with the package manager that it is made for.
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import type { BuildEnvironment } from '#kit/build-environment';
import { runSteps } from '#kit/build-steps';
import type { BuildRequest } from '../installs/contract.ts';
import { type NodeFacts, type PackageManager, USUAL_STEPS } from './facts.ts';
import { isThere } from './machine.ts';

/** Where yarn lies in releases that bring it. */
const YARN_RELEASES = '.yarn/releases';
const YARN = /^yarn-[\w.-]+\.c?js$/;
const WRITE_YARN = `mkdir -p "$1" && printf '#!/bin/sh\\nexec node "%s" "$@"\\n' "$2" > "$1/yarn" && chmod +x "$1/yarn"`;

/** Throws an Error with the end of what failed. */
export async function buildWith(
  manager: PackageManager,
  facts: NodeFacts,
  request: BuildRequest,
  environment: BuildEnvironment,
): Promise<void> {
  const programs = path.join(environment.home, 'bin');
  await provide(manager, facts, request, environment, programs);
  const env = { ...settingsOf(request, environment), PATH: `${programs}:${environment.path}`, ...facts.env };
  await runSteps(environment, facts.steps ?? USUAL_STEPS[manager], { ...facts, env }, request.fill);
}

/** Puts the package manager where steps, and what they call, find it. */
async function provide(
  manager: PackageManager,
  { in: folder = '.' }: NodeFacts,
  request: BuildRequest,
  environment: BuildEnvironment,
  programs: string,
): Promise<void> {
  if (manager === 'yarn') {
    const releases = path.join(request.directory, folder, YARN_RELEASES);
    const release = (await readdir(releases).catch(() => [])).find(name => YARN.test(name));
    if (release !== undefined)
      return environment.run({ argv: ['sh', '-c', WRITE_YARN, 'sh', programs, path.join(releases, release)] });
  }
  if (manager === 'node' || (await isThere(manager, request))) return;
  await environment.run({ argv: ['mkdir', '-p', programs] });
  await environment.run({ argv: ['corepack', 'enable', '--install-directory', programs, manager] });
}

/** Of all package managers, because a project may call another one. */
function settingsOf({ childJobs, networkJobs }: BuildRequest, environment: BuildEnvironment): Record<string, string> {
  return {
    COREPACK_ENABLE_DOWNLOAD_PROMPT: '0',
    npm_config_audit: 'false',
    npm_config_cache: environment.cache('npm'),
    npm_config_child_concurrency: String(childJobs),
    npm_config_fund: 'false',
    npm_config_maxsockets: String(networkJobs),
    npm_config_network_concurrency: String(networkJobs),
    npm_config_store_dir: environment.cache('pnpm-store'),
    npm_config_update_notifier: 'false',
    YARN_ENABLE_TELEMETRY: '0',
    YARN_GLOBAL_FOLDER: environment.cache('yarn'),
    YARN_NETWORK_CONCURRENCY: String(networkJobs),
  };
}
