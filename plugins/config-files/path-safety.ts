// Decides which files may be opened as a service's configuration: those in allowed directories, never the host's own.
import { realpath } from 'node:fs/promises';
import path from 'node:path';
import { type NamedBlock, Problem } from '#core';
import { fileVersion } from '#kit/fs-out-of-process';
import { GuardedDirectory } from '#kit/guarded-directory';
import { isHostState } from '#kit/host-state';
import { isSystemPath } from '#kit/system-paths';

export interface KnownPaths {
  readonly configDir: string;
  /** The main configuration file, which is never a service's own. */
  readonly mainFile: string;
  /** Files and directories elsewhere that are the host's own: its program, its plugins and its users. */
  readonly ownPlaces: readonly string[];
  /** The configuration's `data_root`, unchecked. */
  readonly dataRoot: unknown;
  /** The configuration's `file_roots`, unchecked: further directories whose files may be opened. */
  readonly fileRoots: unknown;
  /** The `config_file` of the service's template; its directory is allowed although it may lie outside `config_dir`. */
  templateFile(configKey: string): unknown;
}

/**
 * The real path of the file that a block names, with all links resolved. Throws a Problem: 400 without a usable name,
 * 404 when the file is missing, 403 when it may not be opened, 503 when its mount does not answer.
 */
export async function checkPath(
  block: NamedBlock,
  paths: KnownPaths,
  named: unknown = block.block.config_file,
): Promise<string> {
  const wanted = fileNameOf(named);
  if (wanted === undefined) throw new Problem(400, `${block.processName} has no config_file`);
  if (!path.isAbsolute(wanted) || wanted.includes('\0'))
    throw new Problem(400, `config_file of ${block.processName} must be an absolute path`);
  await requirePresent(wanted);
  const file = await realpath(wanted).catch((error: unknown) => {
    throw createAbsence(error);
  });
  await requireAllowed(file, block, paths);
  return file;
}

/** Throws a Problem 403 when a real path lies outside the service's directories, or belongs to the host itself. */
export async function requireAllowed(file: string, named: NamedBlock, paths: KnownPaths): Promise<void> {
  const { block, configKey, processName } = named;
  const fromTemplate = paths.templateFile(configKey);
  const roots = await resolveRoots([
    block.config_dir,
    typeof fromTemplate === 'string' ? path.dirname(fromTemplate) : undefined,
    paths.configDir,
    paths.dataRoot,
    ...toList(paths.fileRoots),
  ]);
  if (isSystemPath(file))
    throw new Problem(403, `${file} belongs to the system; name a file of ${processName} in its config_file`);
  if (await isHostFile(file, paths))
    throw new Problem(403, `${file} belongs to Stackwarden itself; name a file of ${processName} in its config_file`);
  if (!roots.some(root => file.startsWith(root + path.sep)))
    throw new Problem(
      403,
      `${file} lies outside the directories of ${processName}: its config_dir, data_root and those in ` +
        'dumb.api_service.file_roots; set the config_file of the service to a file in its config_dir, or add the ' +
        'directory to file_roots',
    );
}

async function requirePresent(file: string): Promise<void> {
  const version = await fileVersion(file).catch((error: unknown) => {
    throw new Problem(503, 'The file does not answer; it may lie on a mount that is gone', { cause: error });
  });
  if (version === null) throw createAbsence();
}

function createAbsence(cause?: unknown): Problem {
  return new Problem(404, 'The configuration file does not exist', { cause });
}

/** The file name without white space and a pair of quotes around it; undefined when there is none. */
export function fileNameOf(value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined;
  const trimmed = value.trim();
  const quoted = /^(["'])(.*)\1$/s.exec(trimmed)?.[2] ?? trimmed;
  return quoted === '' ? undefined : quoted;
}

/**
 * Real paths of the usable roots: no relative path, none behind a link that a service could have made, no system
 * directory and not the root directory. A missing root, as before the first start of a service, counts as named,
 * because it will be made there.
 */
async function resolveRoots(candidates: readonly unknown[]): Promise<string[]> {
  const roots = await Promise.all(
    candidates.filter(isPath).map(place => guardedPlaceOf(path.resolve(place)).catch(() => '/')),
  );
  return roots.filter(root => root !== '/' && !isSystemPath(root));
}

async function guardedPlaceOf(directory: string): Promise<string> {
  const held = await GuardedDirectory.open(directory).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (held === undefined) return path.join(await guardedPlaceOf(path.dirname(directory)), path.basename(directory));
  held.close();
  return held.path;
}

async function isHostFile(file: string, { configDir, mainFile, ownPlaces }: KnownPaths): Promise<boolean> {
  const [own, main, ...places] = await Promise.all(
    [configDir, mainFile, ...ownPlaces].map(place => realpath(place).catch(() => place)),
  );
  if (own === undefined || main === undefined || file === main || file.startsWith(`${main}.`)) return true;
  if (places.some(place => file === place || file.startsWith(place + path.sep))) return true;
  return isHostState(file, own);
}

export function isPath(value: unknown): value is string {
  return typeof value === 'string' && path.isAbsolute(value);
}

function toList(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}
