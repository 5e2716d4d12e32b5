// Tells which files in the configuration directory are the host's own state, which is never shown or served as another
// kind of file.
import path from 'node:path';
import { isBelow } from './path-below.ts';

const DIRECTORIES = ['supervisor', 'backups', 'data', 'jobs', 'plugins', 'templates'];
const FILES = /^(stackwarden\.(json|yaml|yml)|dumb_config\.json|users\.json|handed-over\.json|\.env)(\.|$)/;
const declared = new Set<string>();

/**
 * Adds a directory of the configuration directory, or a file with those whose names continue its own, until the process
 * ends.
 */
export function declareHostState(name: string): void {
  declared.add(name);
}

/** The file of users and its copy. A variable may name another file, by a path from where the host was started. */
export function usersFiles(configDir: string): readonly [file: string, copy: string] {
  const file = path.resolve(process.env.DUMB_AUTH_CONFIG_PATH || path.join(configDir, 'users.json'));
  return [file, `${file}.bak`];
}

/** Both paths must be real ones, with all links resolved. */
export function isHostState(file: string, configDir: string): boolean {
  if (!isBelow(file, configDir)) return false;
  const relative = path.relative(configDir, file);
  const [first = ''] = relative.split(path.sep);
  if (DIRECTORIES.includes(first) || declared.has(first)) return true;
  return relative === first && (FILES.test(first) || [...declared].some(name => first.startsWith(`${name}.`)));
}
