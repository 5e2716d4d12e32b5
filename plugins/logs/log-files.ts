// Finds the log file that belongs to a name. Only files that the configuration names, or in known places, can be read.
import { type FileHandle, realpath } from 'node:fs/promises';
import path from 'node:path';
import { type ConfigStore, type LogHub, type NamedBlock, Problem } from '#core';
import { withDeadline } from '#kit/deadline';
import { errorText } from '#kit/error-text';
import { GuardedDirectory } from '#kit/guarded-directory';
import { findBlocks } from '#kit/named-blocks';
import { isLogPattern, logFileOf, matchesLogPattern, newestFirst } from '#kit/service-log';
import { slugOf } from '#kit/slug';
import { unknownProcess } from '#kit/unknown-process';
import { valueAt } from '#kit/value-at';
import type { ServiceTemplates } from '../services/contract.ts';
import { accessOf, type LogAccess, type LogPlaces, mayShow, requireDeclared } from './log-places.ts';

export interface FoundLog {
  readonly processName: string;
  /** Opens the log, which the caller closes. null when there is none, or it may not be shown. */
  readonly open: () => Promise<FileHandle | null>;
  /** What decides which files of the log may be shown. */
  readonly access: LogAccess;
  /** Whether this is the log of the host itself. */
  readonly own: boolean;
}

interface Sources {
  readonly store: ConfigStore;
  readonly hub: LogHub;
  readonly templates: ServiceTemplates | undefined;
  readonly places: LogPlaces;
}

const FLUSH_MS = 1_000;
const REAL_PLACE_MS = 1_000;

const OWN_NAMES = /^du?mb(?: api(?: service)?)?$/;

/** Throws a Problem: 404 when no process or log has that name, 403 when its log may not lie where the block says. */
export function findLogFile(name: string, { store, hub, templates, places }: Sources): FoundLog {
  const folded = name
    .trim()
    .replaceAll(/[\s_]+/g, ' ')
    .toLowerCase();
  const block = store.findBlock(name);
  if (OWN_NAMES.test(folded) || block?.isHost === true) {
    const isOwn = (file: string): boolean => isOwnName(file, hub);
    const access = accessOf(block, places);
    const open = async () => {
      // Lines that were logged before a request are in its answer, unless the disk is slow.
      await withDeadline(() => hub.flush(), FLUSH_MS, 'the log').catch(() => undefined);
      return openNewest(hub.directory, isOwn, access);
    };
    return { processName: block?.processName ?? name.trim(), open, access, own: true };
  }
  const blocks = store.blocks();
  const further = furtherLog(folded, templates);
  if (further !== undefined) return known(name, blocks, further, places);
  if (block === undefined) throw unknownProcess(name);
  const access = accessOf(block, places);
  return { processName: block.processName, open: openerOf(block, places, access), access, own: false };
}

/**
 * Throws a Problem when an update gives a block a log that could not be read where it is (403), or that is one of the
 * host's own (400).
 */
export async function checkLogFiles(
  before: Readonly<Record<string, unknown>>,
  after: Readonly<Record<string, unknown>>,
  places: LogPlaces,
  hub: LogHub,
): Promise<void> {
  const known = new Map(findBlocks(before).map(({ processName, block }) => [processName, block.log_file]));
  for (const named of findBlocks(after)) {
    const { log_file: value } = named.block;
    const file = value === known.get(named.processName) ? null : logFileOf(value, places.logDir);
    if (file === null) continue;
    requireDeclared(file, named, places);
    await refuseOwnLog(file, named, hub);
  }
}

/** Why the log of a block can be neither written nor read where the block says; undefined when it can. */
export async function misplacedLog(named: NamedBlock, places: LogPlaces, hub: LogHub): Promise<string | undefined> {
  const file = logFileOf(named.block.log_file, places.logDir);
  if (file === null) return undefined;
  try {
    requireDeclared(file, named, places);
    await refuseOwnLog(file, named, hub);
    return undefined;
  } catch (error) {
    return `${named.path.join('.')}.log_file: ${errorText(error)}`;
  }
}

/** Two writers would rotate one file, and the lines of the service would be shown as those of the host. */
async function refuseOwnLog(file: string, { isHost, processName }: NamedBlock, hub: LogHub): Promise<void> {
  if (isHost || !isOwnName(path.basename(file), hub)) return;
  const [own, place] = await Promise.all([hub.directory, path.dirname(file)].map(realPlace));
  if (own !== place) return;
  const example = `${slugOf(processName)}.log`;
  throw new Problem(
    400,
    `${file} is called like a log of Stackwarden itself; choose another name, for example ${example}`,
  );
}

/** The directory as it is named where it cannot be looked at. */
function realPlace(directory: string): Promise<string> {
  return withDeadline(() => realpath(directory), REAL_PLACE_MS, 'the log directory').catch(() => directory);
}

function isOwnName(file: string, { name }: LogHub): boolean {
  return file.startsWith(`${name}-`) && file.endsWith('.log');
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

function known(
  name: string,
  blocks: readonly NamedBlock[],
  { configKey, option }: FurtherLog,
  places: LogPlaces,
): FoundLog {
  const block = blocks.find(candidate => candidate.configKey === configKey);
  if (block === undefined) throw unknownProcess(name);
  const file = logFileOf(valueAt(block.block, option.split('.')), places.logDir);
  const access = accessOf(block, places);
  if (file === null) return { processName: name.trim(), open: async () => null, access, own: false };
  requireDeclared(file, block, places);
  return { processName: name.trim(), open: () => openInPlace(file, access), access, own: false };
}

function openerOf(named: NamedBlock, places: LogPlaces, access: LogAccess): FoundLog['open'] {
  const { log_file: name, config_file: configFile, config_dir: configDir } = named.block;
  const file = logFileOf(name, places.logDir);
  if (file !== null) requireDeclared(file, named, places);
  const directories = [
    ...(typeof configFile === 'string' && configFile !== '' ? [path.join(path.dirname(configFile), 'logs')] : []),
    ...(typeof configDir === 'string' && configDir !== '' ? [path.join(configDir, 'logs')] : []),
  ];
  return async () => {
    for (const log of file === null ? [] : [file, ...usualPattern(named, file, places)]) {
      const found = await openInPlace(log, access).catch(nullWhenAbsent);
      if (found !== null) return found;
    }
    for (const directory of directories) {
      const found = await openNewest(directory, name => /\.(log|txt)$/.test(name), access);
      if (found !== null) return found;
    }
    return null;
  };
}

/** The pattern of the template beside a log that an older configuration calls by a fixed name. */
function usualPattern(named: NamedBlock, file: string, places: LogPlaces): string[] {
  const usual = places.templateBlock(named)?.log_file;
  if (typeof usual !== 'string' || !isLogPattern(usual) || isLogPattern(file)) return [];
  return [path.join(path.dirname(file), path.basename(usual))];
}

function nullWhenAbsent(error: NodeJS.ErrnoException): null {
  if (error.code === 'ENOENT') return null;
  throw error;
}

/** null when a link leads out of the file's directory, or no file fits a pattern. */
async function openInPlace(file: string, access: LogAccess): Promise<FileHandle | null> {
  if (isLogPattern(file)) {
    const pattern = path.basename(file);
    return openNewest(path.dirname(file), name => matchesLogPattern(name, pattern), access);
  }
  const beside = await GuardedDirectory.open(path.dirname(file));
  try {
    const name = path.basename(file);
    if ((await beside.stat(name))?.isSymbolicLink() !== true) return await openShown(beside, name, access);
    return await GuardedDirectory.at(file, async (directory, target) =>
      directory.path === beside.path || directory.path.startsWith(`${beside.path}/`)
        ? openShown(directory, target, access)
        : null,
    );
  } finally {
    beside.close();
  }
}

/** The regular file that was modified last; null when there is none. */
async function openNewest(
  place: string,
  matches: (name: string) => boolean,
  access: LogAccess,
): Promise<FileHandle | null> {
  const directory = await GuardedDirectory.open(place).catch(() => null);
  if (directory === null) return null;
  try {
    const [newest] = await newestFirst(directory, matches);
    return newest === undefined ? null : await openShown(directory, newest.name, access);
  } finally {
    directory.close();
  }
}

async function openShown(directory: GuardedDirectory, name: string, access: LogAccess): Promise<FileHandle | null> {
  const handle = await directory.openFile(name, 'read');
  if (await mayShow(path.join(directory.path, name), await handle.stat(), access)) return handle;
  await handle.close();
  return null;
}
