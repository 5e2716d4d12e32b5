// Which files may be opened as a service's own configuration: regular files below the places that belong to it.
import { constants } from 'node:fs';
import { type FileHandle, open, realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import { type NamedBlock, Problem } from '#core';
import { fileVersion } from '#kit/fs-out-of-process';
import { isSystemPath } from '#kit/system-paths';

/** Below the configuration directory, but the product's own. */
const OWN_DIRECTORIES = ['supervisor', 'ai-diagnostics', 'backups', 'plugins'];
const OWN_FILES = /^(stackwarden\.(json|yaml|yml)|dumb_config\.json|users\.json|\.env)(\.bak(\.\d+)?)?$/;

export interface Places {
  readonly configDir: string;
  readonly mainFile: string;
  readonly dataRoot: unknown;
  readonly fileRoots: unknown;
  /** The file that the template of a kind of service names, which may lie outside its `config_dir`. */
  templateFile(configKey: string): unknown;
}

/** The file a block names, and what it really is. */
export interface CheckedFile {
  readonly file: string;
  readonly device: number;
  readonly inode: number;
}

/** Throws a Problem: 400 without a usable name, 404 when it is missing, 403 when it may not be opened, 503 on a dead mount. */
export async function checkPath(
  block: NamedBlock,
  places: Places,
  named: unknown = block.block.config_file,
): Promise<CheckedFile> {
  const wanted = nameOf(named);
  if (wanted === undefined) throw new Problem(400, `${block.processName} has no config_file`);
  if (!path.isAbsolute(wanted) || wanted.includes('\0'))
    throw new Problem(400, `config_file of ${block.processName} must be an absolute path`);
  await confirmThere(wanted);
  const file = await realpath(wanted);
  await confirmPlace(file, block, places);
  const found = await stat(file);
  // A second name of a file may lie anywhere.
  if (!found.isFile() || found.nlink > 1) throw refused();
  return { file, device: found.dev, inode: found.ino };
}

/** Throws a Problem 403 when a real path lies outside the places of a service, or is the product's own. */
export async function confirmPlace(file: string, { block, configKey }: NamedBlock, places: Places): Promise<void> {
  const fromTemplate = places.templateFile(configKey);
  const roots = await realRoots([
    block.config_dir,
    typeof fromTemplate === 'string' ? path.dirname(fromTemplate) : undefined,
    places.configDir,
    places.dataRoot,
    ...listOf(places.fileRoots),
  ]);
  const isInside = roots.some(root => file.startsWith(root + path.sep));
  if (!isInside || (await isOwn(file, places))) throw refused();
}

/** Opens the checked file itself: what was put in its place meanwhile is refused. */
export async function openChecked({ file, device, inode }: CheckedFile): Promise<FileHandle> {
  const handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(
    (error: unknown) => {
      throw new Problem(403, 'The file cannot be opened', { cause: error });
    },
  );
  const found = await handle.stat();
  if (found.dev === device && found.ino === inode) return handle;
  await handle.close();
  throw refused();
}

/** Throws a Problem 403 when something else stands at the path by now. */
export async function confirmPath({ file, device, inode }: CheckedFile): Promise<void> {
  const found = await stat(file);
  if (found.dev !== device || found.ino !== inode) throw refused();
}

async function confirmThere(file: string): Promise<void> {
  const version = await fileVersion(file).catch((error: unknown) => {
    throw new Problem(503, 'The file does not answer; it may lie on a mount that is gone', { cause: error });
  });
  if (version === null) throw new Problem(404, 'The configuration file does not exist');
}

function nameOf(value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined;
  const trimmed = value.trim();
  const quoted = /^(["'])(.*)\1$/s.exec(trimmed)?.[2] ?? trimmed;
  return quoted === '' ? undefined : quoted;
}

async function realRoots(candidates: readonly unknown[]): Promise<string[]> {
  const named = candidates.filter(candidate => typeof candidate === 'string' && path.isAbsolute(candidate));
  const roots = await Promise.all(named.map(candidate => realpath(String(candidate)).catch(() => '/')));
  return roots.filter(root => root !== '/' && !isSystemPath(root));
}

async function isOwn(file: string, { configDir, mainFile }: Places): Promise<boolean> {
  const [own, main] = await Promise.all([realpath(configDir), realpath(mainFile).catch(() => mainFile)]);
  if (file === main || file.startsWith(`${main}.`)) return true;
  const relative = path.relative(own, file);
  if (relative.startsWith('..')) return false;
  const [first = ''] = relative.split(path.sep);
  return relative === first ? OWN_FILES.test(first) : OWN_DIRECTORIES.includes(first);
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

function refused(): Problem {
  return new Problem(403, 'This file may not be opened as the configuration of a service');
}
