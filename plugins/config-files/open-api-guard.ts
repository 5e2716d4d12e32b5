// Refuses changes by which a caller who has shown no credentials would have the host read or write a file that its service
// could not.
import path from 'node:path';
import { type ConfigCandidate, type Host, type NamedBlock, Problem } from '#core';
import { runChild } from '#kit/fs-out-of-process';
import { findBlocks } from '#kit/named-blocks';
import type {} from '../services/contract.ts';
import { fileNameOf } from './path-safety.ts';

const LIMIT_MS = 5_000;

/**
 * While nobody must log in, a block may name no `config_file` anew that its user may not read and write, or not make
 * where it would lie. What its template names may be.
 */
export function guardOpenApi(host: Host): void {
  host.tap('config.check', async candidate => {
    if (process.getuid?.() !== 0 || host.find('access')?.enabled() === true) return;
    await guardConfigFiles(host, candidate);
  });
}

async function guardConfigFiles(host: Host, { before, after }: ConfigCandidate): Promise<void> {
  const store = host.use('config.store');
  const user = { uid: Number(store.root().puid), gid: Number(store.root().pgid) };
  const known = new Map(findBlocks(before).map(({ processName, block }) => [processName, block.config_file]));
  for (const named of findBlocks(after)) {
    const { processName, block } = named;
    if (block.config_file === known.get(processName) || block.config_file === usualFile(host, named)) continue;
    const file = fileNameOf(block.config_file);
    if (file === undefined || !path.isAbsolute(file)) continue;
    if (path.resolve(file).startsWith(host.paths.configDir + path.sep) || (await isOpenTo(user, path.resolve(file))))
      continue;
    throw new Problem(
      403,
      `config_file of ${processName} cannot become ${file} while authentication is off, because user ${user.uid} may not ` +
        `read and write it; give it to that user, switch authentication on, or change it in ${store.file}`,
    );
  }
}

function usualFile(host: Host, { configKey, key }: NamedBlock): unknown {
  const templates = host.find('service.templates');
  const template = templates?.get(configKey);
  return template === undefined ? undefined : templates?.block(template, key).config_file;
}

/** Asks the kernel as that user, because modes alone do not decide it, and in children, because a mount may be dead. */
async function isOpenTo(user: { readonly uid: number; readonly gid: number }, file: string): Promise<boolean> {
  const directory = path.dirname(file);
  if (await holds('[ -e "$1" ] || [ -L "$1" ]', file)) return holds('[ -r "$1" ] && [ -w "$1" ]', file, user);
  // What is missing above it is made for the user.
  return !(await holds('[ -e "$1" ]', directory)) || holds('[ -w "$1" ]', directory, user);
}

async function holds(
  tests: string,
  place: string,
  as?: { readonly uid: number; readonly gid: number },
): Promise<boolean> {
  return (await runChild('sh', ['-c', tests, 'sh', place], LIMIT_MS, as)).code === 0;
}
