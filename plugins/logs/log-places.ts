// Decides where the log of a service may lie: in the log directory, or in a directory that is the service's own.
import type { Stats } from 'node:fs';
import { lstat, realpath } from 'node:fs/promises';
import path from 'node:path';
import { type NamedBlock, Problem } from '#core';
import { isHostState } from '#kit/host-state';
import { isBelow } from '#kit/path-below';
import { isSystemPath } from '#kit/system-paths';

const READ = 0o4;
const PASS = 0o1;

export interface LogPlaces {
  readonly logDir: string;
  readonly configDir: string;
  /** The configuration's `data_root` and `file_roots`, unchecked. */
  readonly roots: readonly unknown[];
  /** The block that the template gives a service of that kind; undefined without a template. */
  templateBlock(block: NamedBlock): Readonly<Record<string, unknown>> | undefined;
  /** `block` is undefined for the log of the host. */
  userOf(block: NamedBlock | undefined): LogUser;
}

/** The user that a service runs as; null when the host cannot act as another. */
type LogUser = { readonly uid: number; readonly gid: number } | null;

/** What decides which files may be shown as logs of one service. */
export interface LogAccess extends Pick<LogPlaces, 'logDir' | 'configDir'> {
  /** Asked only for a log outside of the log directory, because a named user is looked up in files. */
  user(): LogUser;
}

export function accessOf(block: NamedBlock | undefined, places: LogPlaces): LogAccess {
  const { logDir, configDir } = places;
  return { logDir, configDir, user: () => places.userOf(block) };
}

/** Throws a Problem 403 that says what to do when the block may not have its log in this file. */
export function requireDeclared(file: string, block: NamedBlock, places: LogPlaces): void {
  const { log_file: usual, config_file: usualConfig } = places.templateBlock(block) ?? {};
  const directories = [
    block.block.config_dir,
    ...[block.block.config_file, usual, usualConfig].map(named => (isPath(named) ? path.dirname(named) : undefined)),
    ...places.roots,
  ];
  const isDeclared = directories.some(directory => isPath(directory) && isBelow(file, directory));
  if (isBelow(file, places.logDir) || (path.isAbsolute(file) && isDeclared && !isSystemPath(path.resolve(file))))
    return;
  throw new Problem(
    403,
    `${file} lies outside the directories of ${block.processName}; keep its log below ${places.logDir} or its ` +
      'config_dir, or name the directory in dumb.api_service.file_roots',
  );
}

/**
 * Whether an open file may be shown as a log: it is below the log directory, or the service could read it itself, and
 * it is no file of the host's own state. `file` is its real path.
 */
export async function mayShow(file: string, entry: Stats, access: LogAccess): Promise<boolean> {
  const { logDir, configDir } = access;
  if (isHostState(file, await realpath(configDir))) return false;
  if (isBelow(file, await realpath(logDir).catch(() => logDir))) return true;
  if (isSystemPath(file)) return false;
  const user = access.user();
  if (user === null) return true;
  for (let place = path.dirname(file); ; place = path.dirname(place)) {
    if (!allows(await lstat(place), user, PASS)) return false;
    if (place === '/') return allows(entry, user, READ);
  }
}

/** Whether the mode gives the user a right; `bit` is its bit for all others. */
function allows({ uid, gid, mode }: Stats, user: NonNullable<LogUser>, bit: number): boolean {
  if (uid === user.uid) return (mode & (bit << 6)) !== 0;
  return (mode & (gid === user.gid ? bit << 3 : bit)) !== 0;
}

function isPath(value: unknown): value is string {
  return typeof value === 'string' && path.isAbsolute(value) && path.resolve(value) !== '/';
}
