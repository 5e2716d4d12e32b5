// Decides which files may be opened as a service's configuration: those in allowed directories, never the host's own.
import { constants } from 'node:fs';
import { type FileHandle, open, realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import { type NamedBlock, Problem } from '#core';
import { fileVersion } from '#kit/fs-out-of-process';
import { isSystemPath } from '#kit/system-paths';

/** Directories below the configuration directory that hold the host's own state. */
const HOST_DIRECTORIES = ['supervisor', 'ai-diagnostics', 'backups', 'plugins'];
const HOST_FILES = /^(stackwarden\.(json|yaml|yml)|dumb_config\.json|users\.json|\.env)(\.bak(\.\d+)?)?$/;

export interface KnownPaths {
  readonly configDir: string;
  /** The main configuration file, which is never a service's own. */
  readonly mainFile: string;
  /** The configuration's `data_root`, unchecked. */
  readonly dataRoot: unknown;
  /** The configuration's `file_roots`, unchecked: further directories whose files may be opened. */
  readonly fileRoots: unknown;
  /** The `config_file` of the service's template; its directory is allowed although it may lie outside `config_dir`. */
  templateFile(configKey: string): unknown;
}

/** A file that passed the checks. Device and inode tell later whether another file has taken its path. */
export interface CheckedFile {
  /** The real path, with all links resolved. */
  readonly file: string;
  readonly device: number;
  readonly inode: number;
}

/**
 * Resolves and checks the file that a block names. Throws a Problem: 400 without a usable name, 404 when the file is
 * missing, 403 when it may not be opened, 503 when its mount does not answer.
 */
export async function checkPath(
  block: NamedBlock,
  paths: KnownPaths,
  named: unknown = block.block.config_file,
): Promise<CheckedFile> {
  const wanted = parseFileName(named);
  if (wanted === undefined) throw new Problem(400, `${block.processName} has no config_file`);
  if (!path.isAbsolute(wanted) || wanted.includes('\0'))
    throw new Problem(400, `config_file of ${block.processName} must be an absolute path`);
  await requirePresent(wanted);
  const file = await realpath(wanted);
  await requireAllowed(file, block, paths);
  const found = await stat(file);
  // A hard link can give a file from anywhere a second name in an allowed directory.
  if (!found.isFile() || found.nlink > 1) throw createRefusal();
  return { file, device: found.dev, inode: found.ino };
}

/** Throws a Problem 403 when a real path lies outside the service's directories, or belongs to the host itself. */
export async function requireAllowed(file: string, { block, configKey }: NamedBlock, paths: KnownPaths): Promise<void> {
  const fromTemplate = paths.templateFile(configKey);
  const roots = await resolveRoots([
    block.config_dir,
    typeof fromTemplate === 'string' ? path.dirname(fromTemplate) : undefined,
    paths.configDir,
    paths.dataRoot,
    ...toList(paths.fileRoots),
  ]);
  const isInside = roots.some(root => file.startsWith(root + path.sep));
  if (!isInside || (await isHostFile(file, paths))) throw createRefusal();
}

/** Opens the checked file. Throws a Problem 403 when another file has taken its path since the check. */
export async function openUnchanged({ file, device, inode }: CheckedFile): Promise<FileHandle> {
  const handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(
    (error: unknown) => {
      throw new Problem(403, 'The file cannot be opened', { cause: error });
    },
  );
  const found = await handle.stat();
  if (found.dev === device && found.ino === inode) return handle;
  await handle.close();
  throw createRefusal();
}

/** Throws a Problem 403 when another file has taken the path since the check. */
export async function requireUnchanged({ file, device, inode }: CheckedFile): Promise<void> {
  const found = await stat(file);
  if (found.dev !== device || found.ino !== inode) throw createRefusal();
}

async function requirePresent(file: string): Promise<void> {
  const version = await fileVersion(file).catch((error: unknown) => {
    throw new Problem(503, 'The file does not answer; it may lie on a mount that is gone', { cause: error });
  });
  if (version === null) throw new Problem(404, 'The configuration file does not exist');
}

function parseFileName(value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined;
  const trimmed = value.trim();
  const quoted = /^(["'])(.*)\1$/s.exec(trimmed)?.[2] ?? trimmed;
  return quoted === '' ? undefined : quoted;
}

/** Real paths of the usable roots: no relative path, no missing one, no system directory and not the root directory. */
async function resolveRoots(candidates: readonly unknown[]): Promise<string[]> {
  const named = candidates.filter(candidate => typeof candidate === 'string' && path.isAbsolute(candidate));
  const roots = await Promise.all(named.map(candidate => realpath(String(candidate)).catch(() => '/')));
  return roots.filter(root => root !== '/' && !isSystemPath(root));
}

async function isHostFile(file: string, { configDir, mainFile }: KnownPaths): Promise<boolean> {
  const [own, main] = await Promise.all([realpath(configDir), realpath(mainFile).catch(() => mainFile)]);
  if (file === main || file.startsWith(`${main}.`)) return true;
  const relative = path.relative(own, file);
  if (relative.startsWith('..')) return false;
  const [first = ''] = relative.split(path.sep);
  return relative === first ? HOST_FILES.test(first) : HOST_DIRECTORIES.includes(first);
}

function toList(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

function createRefusal(): Problem {
  return new Problem(403, 'This file may not be opened as the configuration of a service');
}
