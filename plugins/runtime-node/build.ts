// Builds a release with the package manager that it uses.
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import type { BuildEnvironment } from '#kit/build-environment';
import { runSteps } from '#kit/build-steps';
import { GuardedDirectory } from '#kit/guarded-directory';
import type { BuildRequest } from '../installs/contract.ts';
import { type NodeFacts, type PackageManager, USUAL_STEPS } from './facts.ts';
import { isThere } from './machine.ts';

/** The version of pnpm for projects that ask for none. */
const USUAL_PNPM = '10';
const WANTED_PNPM = /"packageManager": *"pnpm@(\d{1,4}(?:\.\d{1,4}){2})/;
const MAX_PACKAGE_BYTES = 1024 * 1024;
/** The folder of yarn in releases that contain it. */
const YARN_RELEASES = '.yarn/releases';
const YARN = /^yarn-[\w.-]+\.c?js$/;
const WRITE_YARN = `mkdir -p "$1" && printf '#!/bin/sh\\nexec node "%s" "$@"\\n' "$2" > "$1/yarn" && chmod +x "$1/yarn"`;

/** Throws an Error with the end of the output of the step that failed. */
export async function buildWith(
  manager: PackageManager,
  facts: NodeFacts,
  request: BuildRequest,
  environment: BuildEnvironment,
): Promise<void> {
  const programs = path.join(environment.home, 'tools/bin');
  const provided = await provide(manager, facts, request, environment, programs);
  const PATH = `${programs}:${environment.path}`;
  const env = { ...settingsOf(request, environment), ...provided, PATH, ...facts.env };
  await runSteps(environment, facts.steps ?? USUAL_STEPS[manager], { ...facts, env }, request.fill);
}

/** Makes the package manager available in `programs`, which is in PATH. Returns the variables that it needs. */
async function provide(
  manager: PackageManager,
  { in: folder = '.' }: NodeFacts,
  request: BuildRequest,
  environment: BuildEnvironment,
  programs: string,
): Promise<Readonly<Record<string, string>>> {
  const release = manager === 'yarn' ? await broughtYarn(request, folder) : undefined;
  if (release !== undefined) {
    await environment.run({ argv: ['sh', '-c', WRITE_YARN, 'sh', programs, release] });
    return {};
  }
  if (manager === 'node' || (await isThere(manager, request))) return {};
  if (manager === 'pnpm' && (await isThere('npm', request))) {
    const pnpm = await wantedPnpm(request, folder);
    const argv = ['npm', 'install', '--global', '--prefix', path.dirname(programs), pnpm];
    await environment.run({ argv, env: settingsOf(request, environment) });
    // The installed version is the one that the project asks for, so pnpm must not switch to another.
    return { npm_config_manage_package_manager_versions: 'false' };
  }
  await environment.run({ argv: ['mkdir', '-p', programs] });
  await environment.run({ argv: ['corepack', 'enable', '--install-directory', programs, manager] });
  return {};
}

async function broughtYarn({ directory }: BuildRequest, folder: string): Promise<string | undefined> {
  const releases = path.join(directory, folder, YARN_RELEASES);
  const name = (await readdir(releases).catch(() => [])).find(file => YARN.test(file));
  return name && path.join(releases, name);
}

async function wantedPnpm({ directory }: BuildRequest, folder: string): Promise<string> {
  const file = path.join(directory, folder, 'package.json');
  const text = await GuardedDirectory.at(file, (parent, name) => parent.read(name, MAX_PACKAGE_BYTES)).catch(
    () => null,
  );
  return `pnpm@${WANTED_PNPM.exec(text?.toString('utf8') ?? '')?.[1] ?? USUAL_PNPM}`;
}

/** Settings for all package managers, because a project may call another one. */
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
