// Decides where the output of a process is written. A log that the application writes itself is only read.
import path from 'node:path';
import type { Host, NamedBlock } from '#core';
import { parseLevel } from '#kit/log-level';
import { isLogPattern, logFileOf } from '#kit/service-log';
import type {} from '../../services/contract.ts';
import type { CaptureTarget } from '../capture/capture-session.ts';

export function captureTargetOf(host: Host, named: NamedBlock): CaptureTarget {
  const { processName, block } = named;
  const { puid, pgid } = host.use('config.store').root();
  const ownedLog = (name: unknown): string | null => {
    const file = logFileOf(name, host.paths.logDir);
    return file !== null && !isLogPattern(file) && ownsLogFile(host, named, file) ? file : null;
  };
  return {
    processName,
    logFile: ownedLog(block.log_file),
    accessLogFile: ownedLog(block.access_log_file),
    logLevel: parseLevel(typeof block.log_level === 'string' ? block.log_level : 'INFO'),
    suppressed: block.suppress_logging === true,
    owner: process.getuid?.() === 0 ? { uid: Number(puid), gid: Number(pgid) } : null,
  };
}

/**
 * The host writes a service's log below the log directory, and at the path that the template names for kinds whose only
 * log is their output. Any other path belongs to the application: if the host wrote there, it would also give that file
 * to the service user.
 */
function ownsLogFile(host: Host, { configKey, key }: NamedBlock, file: string): boolean {
  const templates = host.find('service.templates');
  const template = templates?.get(configKey);
  if (template?.launch?.hostWritesLog === true && templates?.block(template, key).log_file === file) return true;
  const relative = path.relative(host.paths.logDir, file);
  return relative !== '' && !relative.startsWith('..') && !path.isAbsolute(relative);
}
