// Refuses changes by which a caller who has shown no credentials would have the host read or write where a service
// could not itself.
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
/** Where file systems are mounted, of which the machine itself runs nothing. */
const MOUNTS = '/mnt';
/** Directories that are everybody's, so that what lies beside a service there is none of its own. */
const SHARED = ['/', '/opt'];
/** What the guard calls the place at which a block mounts something. */
const MOUNT = 'the mount';
/**
 * Whether the user may read and write the place, or make it. What the user cannot see counts as missing, and the closed
 * directory above it decides. A new place below the root directory is nobody else's.
 */
const IS_OPEN = `p=$1
if [ ! -e "$p" ] && [ ! -L "$p" ]; then
  while [ ! -e "$p" ] && [ ! -L "$p" ]; do p=\${p%/*}; [ -n "$p" ] || exit 0; done
  [ -d "$p" ] || exit 1
fi
[ -r "$p" ] && [ -w "$p" ] && { [ ! -d "$p" ] || [ -x "$p" ]; }`;

/**
 * While nobody must log in, a block may name no `config_file`, no `config_dir` and no other place anew that its
 * template names too, if its user may not write it, or not make it. What the template names may be, and what lies
 * beside that, where file systems are mounted, in the directories that the host has for services, and in those that can
 * be named after a login alone.
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
    // A save changes one block of many.
    if (deepEqual(block, before)) continue;
    const usual = placesIn(host, named, usualBlock(host, named));
    const former = placesIn(host, named, before);
    for (const [option, value] of placesIn(host, named, block)) {
      if (value === former.get(option) || isOpenOption(host, named, option)) continue;
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

/** What a kind of service has where its block says nothing. */
function usualBlock(host: Host, { configKey, key }: NamedBlock): Members {
  const templates = host.find('service.templates');
  const template = templates?.get(configKey);
  return template === undefined ? {} : (templates?.block(template, key) ?? {});
}

/** Where the block lets the host read, make, write, mount or remove something: its options that are usually paths. */
function placesIn(host: Host, named: NamedBlock, block: Members): ReadonlyMap<string, unknown> {
  const usual = Object.entries(usualBlock(host, named));
  const options = usual.filter(([, value]) => isPath(value)).map(([option]) => option);
  const names = new Set(['config_dir', 'config_file', ...options]);
  const mount = host.find('service.templates')?.mountOf({ ...named, block });
  return new Map<string, unknown>([...[...names].map(name => [name, block[name]] as const), [MOUNT, mount]]);
}

/** Whether its area leaves it to everybody, because it looks at it itself. */
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
