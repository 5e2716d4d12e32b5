// Which file holds the log of a name. Only files that the configuration names, or that lie in their known places, count.
import { readdir, realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import { type ConfigStore, type LogHub, type NamedBlock, Problem } from '#core';

export interface FoundLog {
  readonly processName: string;
  /** null: the name is known but has no log. */
  readonly file: string | null;
  /** The log of the host itself. */
  readonly own: boolean;
}

interface Sources {
  readonly store: ConfigStore;
  readonly hub: LogHub;
}

const OWN_NAMES = /^d(?:u)?mb(?: api(?: service)?)?$/;

/** Throws a Problem 404 when nothing has that name. */
export async function findLogFile(name: string, { store, hub }: Sources): Promise<FoundLog> {
  const folded = name
    .trim()
    .replaceAll(/[\s_]+/g, ' ')
    .toLowerCase();
  const block = store.findBlock(name);
  if (OWN_NAMES.test(folded) || block?.configKey === 'dumb_api_service') {
    const file = await newest(hub.directory, file => file.startsWith(`${hub.name}-`) && file.endsWith('.log'));
    return { processName: block?.processName ?? name.trim(), file, own: true };
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
  return { processName: block.processName, file: await logOf(block), own: false };
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
  return { processName: name.trim(), file: typeof file === 'string' && file !== '' ? file : null, own: false };
}

async function logOf({ block }: NamedBlock): Promise<string | null> {
  const { log_file: file, config_file: configFile, config_dir: configDir } = block;
  if (typeof file === 'string' && file !== '') return file;
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

/** The file changed last; links that lead out of the directory are passed over. */
async function newest(directory: string, matches: (name: string) => boolean): Promise<string | null> {
  try {
    const real = await realpath(directory);
    const candidates = await Promise.all(
      (await readdir(real)).filter(matches).map(async name => {
        const file = await realpath(path.join(real, name));
        return { file, inside: path.dirname(file) === real, entry: await stat(file) };
      }),
    );
    const files = candidates.filter(({ inside, entry }) => inside && entry.isFile());
    files.sort((a, b) => b.entry.mtimeMs - a.entry.mtimeMs);
    return files[0]?.file ?? null;
  } catch {
    // No directory, no log: an absent log is an answer, not a fault.
    return null;
  }
}
