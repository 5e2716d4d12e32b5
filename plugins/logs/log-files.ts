// Which file holds the log of a name. Only files that the configuration names, or that lie in their known places, count.
import { readdir, realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import { type ConfigStore, type LogHub, type NamedBlock, Problem } from '#core';

export interface FoundLog {
  readonly processName: string;
  /** null: there is no log, or it lies where it may not be read. */
  readonly locate: () => Promise<string | null>;
  /** The log of the host itself. */
  readonly own: boolean;
}

interface Sources {
  readonly store: ConfigStore;
  readonly hub: LogHub;
}

const OWN_NAMES = /^du?mb(?: api(?: service)?)?$/;

/** Throws a Problem 404 when nothing has that name. */
export function findLogFile(name: string, { store, hub }: Sources): FoundLog {
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
  if (folded === 'traefik access') return known(name, blocks, 'traefik', candidate => candidate.block.access_log_file);
  if (folded === 'plex dbrepair') {
    return known(
      name,
      blocks,
      'plex',
      candidate => (candidate.block.dbrepair as { log_file?: unknown } | undefined)?.log_file,
    );
  }
  if (block === undefined) throw new Problem(404, 'Process not found');
  return { processName: block.processName, locate: () => logOf(block), own: false };
}

function known(
  name: string,
  blocks: readonly NamedBlock[],
  configKey: string,
  pick: (block: NamedBlock) => unknown,
): FoundLog {
  const block = blocks.find(candidate => candidate.configKey === configKey);
  if (block === undefined) throw new Problem(404, 'Process not found');
  const file = pick(block);
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

/** The file changed last; links that lead out of the directory are passed over. */
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
    // Rotated away meanwhile, or a link to nothing: the other files still count.
    return null;
  }
}
