// Tells which files in the configuration directory are the host's own state, which is shown to nobody as anything else.
import path from 'node:path';

const DIRECTORIES = ['supervisor', 'backups', 'data', 'jobs', 'plugins', 'templates'];
const FILES =
  /^(stackwarden\.(json|yaml|yml)|dumb_config\.json|users\.json|handed-over\.json|\w+_sync_state\.json|\.env)(\.|$)/;

/** Both paths must be real ones, with all links resolved. */
export function isHostState(file: string, configDir: string): boolean {
  const relative = path.relative(configDir, file);
  if (relative.startsWith('..') || path.isAbsolute(relative)) return false;
  const [first = ''] = relative.split(path.sep);
  return DIRECTORIES.includes(first) || (relative === first && FILES.test(first));
}
