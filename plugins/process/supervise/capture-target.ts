// Decides where the output of a process is written. A log that the application writes itself is only read.
import type { Host, NamedBlock } from '#core';
import { parseLevel } from '#kit/log-level';
import { isBelow } from '#kit/path-below';
import { isLogPattern, logFileOf } from '#kit/service-log';
import type { ServiceTemplate } from '../../services/contract.ts';
import type { CaptureTarget } from '../capture/session-options.ts';
import { RunUsers } from '../launch/run-user.ts';

interface Known {
  readonly template: ServiceTemplate | undefined;
  readonly logDir: string;
  readonly puid: unknown;
  readonly pgid: unknown;
  readonly target: CaptureTarget;
}

/** Targets by block, because a change of the configuration leaves most blocks the same objects. */
const targets = new WeakMap<object, Known>();

export function captureTargetOf(host: Host, named: NamedBlock): CaptureTarget {
  const { puid, pgid } = host.use('config.store').root();
  const { logDir } = host.paths;
  const template = host.find('service.templates')?.get(named.configKey);
  const known = targets.get(named.block);
  const isSame = known?.template === template && known?.logDir === logDir;
  if (known !== undefined && isSame && known.puid === puid && known.pgid === pgid) return known.target;
  const target = targetOf(host, named, template, { puid, pgid });
  // A template that names the log is asked for the name each time.
  if (template?.launch?.hostWritesLog !== true) targets.set(named.block, { template, logDir, puid, pgid, target });
  return target;
}

function targetOf(
  host: Host,
  named: NamedBlock,
  template: ServiceTemplate | undefined,
  { puid, pgid }: Readonly<Record<'puid' | 'pgid', unknown>>,
): CaptureTarget {
  const { processName, block } = named;
  const ownedLog = (name: unknown): string | null => {
    const file = logFileOf(name, host.paths.logDir);
    return file !== null && !isLogPattern(file) && ownsLogFile(host, named, template, file) ? file : null;
  };
  const logFile = ownedLog(block.log_file);
  const usual = process.getuid?.() === 0 ? { uid: Number(puid), gid: Number(pgid) } : null;
  return {
    processName,
    logFile,
    accessLogFile: ownedLog(block.access_log_file),
    logLevel: parseLevel(typeof block.log_level === 'string' ? block.log_level : 'INFO'),
    suppressed: block.suppress_logging === true,
    // The log directory is that of all services; any other one belongs to the service itself.
    owner: logFile === null || isBelow(logFile, host.paths.logDir) ? usual : new RunUsers(host).ofFiles(named),
  };
}

/**
 * The host writes a service's log below the log directory, and at the path that the template names for kinds whose only
 * log is their output. Any other path belongs to the application: if the host wrote there, it would also give that file
 * to the service user.
 */
function ownsLogFile(host: Host, { key }: NamedBlock, template: ServiceTemplate | undefined, file: string): boolean {
  if (template?.launch?.hostWritesLog === true) {
    const { log_file: named } = host.find('service.templates')?.block(template, key) ?? {};
    if (named === file) return true;
  }
  return isBelow(file, host.paths.logDir);
}
