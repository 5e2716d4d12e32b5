// Refuses changes by which a caller who has shown no credentials would have the host read or write where a service could
// not itself.
import path from 'node:path';
import { type ConfigCandidate, type Host, type NamedBlock, Problem } from '#core';
import { runChild } from '#kit/fs-out-of-process';
import { isHostState } from '#kit/host-state';
import { findBlocks } from '#kit/named-blocks';
import type { ServiceTemplate } from '../services/contract.ts';
import { fileNameOf, isPath } from './path-safety.ts';

const LIMIT_MS = 5_000;
/** What the text of a template begins with when an option of the block says where something lies. */
const OPTION_FIRST = /^\{(\w+)\}/;
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
 * While nobody must log in, a block may name no `config_file`, no `config_dir` and no other place of its template anew
 * that its user may not write, or not make. What its template names may be, and what lies beside that, in the directories
 * that the host has for services, and in those that can be named after a login alone.
 */
export function guardOpenApi(host: Host): void {
  host.tap('config.check', async candidate => {
    if (process.getuid?.() !== 0 || host.find('access')?.enabled() === true) return;
    await guardPlaces(host, candidate);
  });
}

async function guardPlaces(host: Host, { before, after }: ConfigCandidate): Promise<void> {
  const store = host.use('config.store');
  const user = { uid: Number(store.root().puid), gid: Number(store.root().pgid) };
  const known = new Map(findBlocks(before).map(({ processName, block }) => [processName, block]));
  for (const named of findBlocks(after)) {
    const { processName, block } = named;
    const template = host.find('service.templates')?.get(named.configKey);
    for (const option of placeOptions(template)) {
      if (block[option] === known.get(processName)?.[option]) continue;
      const name = fileNameOf(block[option]);
      if (name === undefined || !path.isAbsolute(name)) continue;
      const place = path.resolve(name);
      if (isOfServices(host, place, usualPlace(host, named, template, option)) || (await isOpenTo(user, place)))
        continue;
      throw new Problem(
        403,
        `${option} of ${processName} cannot become ${name} while authentication is off, because user ${user.uid} may not ` +
          `read and write it; give it to that user, switch authentication on, or change it in ${store.file}`,
      );
    }
  }
}

/** The options of a block that say where the host reads, makes, writes or removes something of the service. */
function placeOptions(template: ServiceTemplate | undefined): ReadonlySet<string> {
  const { directories = [], remove = [], links = [], files = [] } = template?.setup ?? {};
  const texts = [...directories, ...remove, ...[...links, ...files].map(({ path: place }) => place)];
  const found = texts.map(text => OPTION_FIRST.exec(text)?.[1]).filter(option => option !== undefined);
  return new Set(['config_dir', 'config_file', ...found]);
}

function usualPlace(
  host: Host,
  { key }: NamedBlock,
  template: ServiceTemplate | undefined,
  option: string,
): string | undefined {
  const usual = template && host.find('service.templates')?.block(template, key)[option];
  return isPath(usual) ? path.resolve(usual) : undefined;
}

/** Whether the place is one that its template names, lies beside that, or in a directory that is meant for services. */
function isOfServices(host: Host, place: string, usual: string | undefined): boolean {
  const { configDir } = host.paths;
  if (isBelow(place, configDir)) return !isHostState(place, configDir);
  if (place === usual) return true;
  const store = host.use('config.store');
  const besideUsual = usual === undefined ? '/' : path.dirname(usual);
  const roots = [besideUsual, store.get('data_root'), store.get('dumb.api_service.file_roots')].flat();
  return roots.filter(isPath).some(root => path.resolve(root) !== '/' && isBelow(place, path.resolve(root)));
}

function isBelow(place: string, directory: string): boolean {
  return place.startsWith(directory + path.sep);
}

/** Asks the kernel as that user, because modes alone do not decide it, and in a child, because a mount may be dead. */
async function isOpenTo(user: { readonly uid: number; readonly gid: number }, place: string): Promise<boolean> {
  const asked = await runChild('sh', ['-c', IS_OPEN, 'sh', place], LIMIT_MS, user).catch((error: unknown) => {
    throw new Problem(503, `${place} does not answer; it may lie on a mount that is gone`, { cause: error });
  });
  return asked.code === 0;
}
