// Finds the log file that belongs to a name. Only files that the configuration names, or in known places, can be read.
import { readdir, realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import { type ConfigStore, type LogHub, type NamedBlock, Problem } from '#core';
import { isObject } from '#kit/plain-object';
import type { ServiceTemplates } from '../services/contract.ts';

export interface FoundLog {
  readonly processName: string;
  /** null when there is no log, or it is where it must not be read. */
  readonly locate: () => Promise<string | null>;
  /** Whether this is the log of the host itself. */
  readonly own: boolean;
}

interface Sources {
  readonly store: ConfigStore;
  readonly hub: LogHub;
  readonly templates: ServiceTemplates | undefined;
}

const OWN_NAMES = /^du?mb(?: api(?: service)?)?$/;

/** Throws a Problem 404 when no process or log has that name. */
export function findLogFile(name: string, { store, hub, templates }: Sources): FoundLog {
  const folded = name
    .trim()
    .replaceAll(/[\s_]+/g, ' ')
    .toLowerCase();
  const block = store.findBlock(name);
  if (OWN_NAMES.test(folded) || block?.isHost === true) {
    const locate = () => newest(hub.directory, file => file.startsWith(`${hub.name}-`) && file.endsWith('.log'));
    return { processName: block?.processName ?? name.trim(), locate, own: true };
  }
  const blocks = store.blocks();
  const further = furtherLog(folded, templates);
  if (further !== undefined) return known(name, blocks, further);
  if (block === undefined) throw new Problem(404, 'Process not found');
  return { processName: block.processName, locate: () => logOf(block), own: false };
}

interface FurtherLog {
  readonly configKey: string;
  /** Dotted path in the block to the option that names the file. */
  readonly option: string;
}

/** A log of a service in addition to the one of its output. */
function furtherLog(folded: string, templates: ServiceTemplates | undefined): FurtherLog | undefined {
  for (const { key: configKey, logs = [] } of templates?.list() ?? [])
    for (const { name, option } of logs) if (name.toLowerCase() === folded) return { configKey, option };
  return undefined;
}

function known(name: string, blocks: readonly NamedBlock[], { configKey, option }: FurtherLog): FoundLog {
  const block = blocks.find(candidate => candidate.configKey === configKey);
  if (block === undefined) throw new Problem(404, 'Process not found');
  const file = option
    .split('.')
    .reduce<unknown>((value, key) => (isObject(value) ? value[key] : undefined), block.block);
  const locate = async () => (typeof file === 'string' && file !== '' ? inPlace(file) : null);
  return { processName: name.trim(), locate, own: false };
}

async function logOf({ block }: NamedBlock): Promise<string | null> {
  const { log_file: file, config_file: configFile, config_dir: configDir } = block;
  if (typeof file === 'string' && file !== '') return inPlace(file);
  const directories = [
    ...(typeof configFile === 'string' && configFile !== '' ? [path.join(path.dirname(configFile), 'logs')] : []),
    ...(typeof configDir === 'string' && configDir !== '' ? [path.join(configDir, 'logs')] : []),
  ];
  for (const directory of directories) {
    const found = await newest(directory, name => /\.(log|txt)$/.test(name));
    if (found !== null) return found;
  }
  return null;
}

/** The real path of a file; null when a link leads out of its directory. */
async function inPlace(file: string): Promise<string | null> {
  const [real, directory] = await Promise.all([realpath(file), realpath(path.dirname(file))]);
  return real.startsWith(directory.endsWith(path.sep) ? directory : directory + path.sep) ? real : null;
}

/** The file that was modified last; links that lead out of the directory are ignored. */
async function newest(directory: string, matches: (name: string) => boolean): Promise<string | null> {
  const names = await readdir(directory).catch(() => []);
  const candidates = await Promise.all(names.filter(matches).map(name => regular(path.join(directory, name))));
  const files = candidates.filter(candidate => candidate !== null);
  files.sort((a, b) => b.mtimeMs - a.mtimeMs);
  return files[0]?.file ?? null;
}

async function regular(candidate: string): Promise<{ file: string; mtimeMs: number } | null> {
  try {
    const file = await inPlace(candidate);
    if (file === null) return null;
    const entry = await stat(file);
    return entry.isFile() ? { file, mtimeMs: entry.mtimeMs } : null;
  } catch {
    // The file has been rotated away, or is a dangling link; the other files still count.
    return null;
  }
}
