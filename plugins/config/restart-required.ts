// Which changed values act only after a restart of the service that they belong to.
import type { ConfigStore } from '#core';
import type { ProcessSupervisor } from '../process/contract.ts';

/** Read at each use, so that a change acts at once. */
const LIVE =
  /^(enabled|suppress_logging|log_level|log_file|auto_update.*|symlink_backup_.*|stop_signal|stop_grace_seconds)$/;

/** Dotted paths inside the blocks of running processes. */
export function needingRestart(
  changed: readonly string[],
  store: ConfigStore,
  supervisor: ProcessSupervisor | undefined,
): string[] {
  const running = store
    .blocks()
    .filter(({ processName, path }) => path[0] !== 'dumb' && supervisor?.get(processName)?.status === 'running')
    .map(({ path }) => `${path.join('.')}.`);
  return changed.filter(path =>
    running.some(prefix => path.startsWith(prefix) && !LIVE.test(path.slice(prefix.length).split('.')[0] ?? '')),
  );
}
