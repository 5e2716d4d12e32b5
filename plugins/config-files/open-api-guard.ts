// Refuses, while authentication is off, changes of blocks that would make the host read or write where the services'
// user could not.
import path from 'node:path';
import { type ConfigCandidate, type Host, type NamedBlock, Problem } from '#core';
import { deepEqual } from '#kit/deep-equal';
import { runChild } from '#kit/fs-out-of-process';
import { isHostState } from '#kit/host-state';
import { findBlocks } from '#kit/named-blocks';
import { isBelow } from '#kit/path-below';
import { isSystemPath } from '#kit/system-paths';
import type {} from '../services/contract.ts';
import { fileNameOf, isPath } from './path-safety.ts';

type Members = Readonly<Record<string, unknown>>;

const LIMIT_MS = 5_000;
/** The directory of mounts from which the machine itself runs nothing. */
const MOUNTS = '/mnt';
/** Shared directories: what lies beside a service's directory there does not belong to the service. */
const SHARED = ['/', '/opt'];
/** The name, in messages, of the place at which a block mounts something. */
const MOUNT = 'the mount';
/**
 * Succeeds when the user may read and write the place, or make it. A place that the user cannot see counts as missing,
 * and the closed directory above it decides. A place of which nothing exists below the root directory is allowed,
 * because nobody else uses it.
 */
const IS_OPEN = `p=$1
if [ ! -e "$p" ] && [ ! -L "$p" ]; then
  while [ ! -e "$p" ] && [ ! -L "$p" ]; do p=\${p%/*}; [ -n "$p" ] || exit 0; done
  [ -d "$p" ] || exit 1
fi
[ -r "$p" ] && [ -w "$p" ] && { [ ! -d "$p" ] || [ -x "$p" ]; }`;

/**
 * While authentication is off, a block may not get a new `config_file`, `config_dir` or other place that its template
 * has too, unless the services' user may write or make that place. Always allowed are the place of the template and
 * those beside it, mounts, the host's directories for services, and directories that can be configured only after a
 * login.
 */
export function guardOpenApi(host: Host): void {
  host.tap('config.check', async candidate => {
    if (process.getuid?.() !== 0 || host.find('access')?.enabled() === true) return;
    await guardPlaces(host, candidate);
  });
}

async function guardPlaces(host: Host, candidate: ConfigCandidate): Promise<void> {
  const store = host.use('config.store');
  const user = { uid: Number(store.root().puid), gid: Number(store.root().pgid) };
  const known = new Map(findBlocks(candidate.before).map(({ processName, block }) => [processName, block]));
  for (const named of findBlocks(candidate.after)) {
    const { processName, block } = named;
    const before = known.get(processName) ?? {};
    // Most blocks are the same, because a save changes one of many.
    if (deepEqual(block, before)) continue;
    const usual = placesIn(host, named, usualBlock(host, named));
    const former = placesIn(host, named, before);
    const places = [...placesIn(host, named, block)];
    const guarded = places.filter(
      ([option, value]) => value !== former.get(option) && !isOpenOption(host, named, option),
    );
    for (const [option, value] of guarded) {
      const name = fileNameOf(value);
      if (name === undefined || !path.isAbsolute(name)) continue;
      const place = path.resolve(name);
      if (isOfServices(host, place, usual.get(option)) || (await isOpenTo(user, place))) continue;
      throw new Problem(
        403,
        `${option} of ${processName} cannot become ${name} while authentication is off, because user ${user.uid} may not ` +
          `read and write it; give it to that user, switch authentication on, or change it in ${store.file}`,
      );
    }
  }
}

/** The block that the service's template gives; empty without a template. */
function usualBlock(host: Host, { configKey, key }: NamedBlock): Members {
  const templates = host.find('service.templates');
  const template = templates?.get(configKey);
  return template === undefined ? {} : (templates?.block(template, key) ?? {});
}

/**
 * The places, by option, at which the block makes the host read, make, write, mount or remove something: the values of
 * options that are usually paths.
 */
function placesIn(host: Host, named: NamedBlock, block: Members): ReadonlyMap<string, unknown> {
  const usual = Object.entries(usualBlock(host, named));
  const options = usual.filter(([, value]) => isPath(value)).map(([option]) => option);
  const names = new Set(['config_dir', 'config_file', ...options]);
  const mount = host.find('service.templates')?.mountOf({ ...named, block });
  return new Map<string, unknown>([...[...names].map(name => [name, block[name]] as const), [MOUNT, mount]]);
}

/** Whether the plugin of the option allows its change without a login, because it checks the value itself. */
function isOpenOption(host: Host, named: NamedBlock, option: string): boolean {
  const { properties = {} } = host.use('config.store').blockSchema(named) ?? {};
  return (properties as Readonly<Record<string, Members | undefined>>)[option]?.['x-needsLogin'] === false;
}

/** Whether the place is one that its template names, lies beside that, or in a directory that is meant for services. */
function isOfServices(host: Host, place: string, usualPlace: unknown): boolean {
  const { configDir } = host.paths;
  if (isBelow(place, configDir)) return !isHostState(place, configDir);
  const usual = isPath(usualPlace) ? path.resolve(usualPlace) : '/';
  if (place === usual) return true;
  if (isSystemPath(place)) return false;
  const store = host.use('config.store');
  const beside = SHARED.includes(path.dirname(usual)) ? usual : path.dirname(usual);
  const roots = [beside, MOUNTS, store.get('data_root'), store.get('dumb.api_service.file_roots')].flat();
  return roots.filter(isPath).some(root => path.resolve(root) !== '/' && isBelow(place, path.resolve(root)));
}

/** Asks the kernel as that user, because modes alone do not decide it, and in a child, because a mount may be dead. */
async function isOpenTo(user: { readonly uid: number; readonly gid: number }, place: string): Promise<boolean> {
  const asked = await runChild('sh', ['-c', IS_OPEN, 'sh', place], LIMIT_MS, user).catch((error: unknown) => {
    throw new Problem(503, `${place} does not answer; it may lie on a mount that is gone`, { cause: error });
  });
  return asked.code === 0;
}
