// Buffers what is logged before the configuration is read, which says where the log is written.
import type { Logger } from '../contract/log.ts';

export interface EarlyLog extends Logger {
  /** Writes the buffered entries to the real log, to which all later entries go directly. */
  replay(log: Logger): void;
}

export function createEarlyLog(): EarlyLog {
  const buffered: ((log: Logger) => void)[] = [];
  let real: Logger | undefined;
  const bufferOrWrite = (level: keyof Logger) => (message: string, error?: unknown) => {
    if (real === undefined) buffered.push(log => log[level](message, error));
    else real[level](message, error);
  };
  return {
    debug: bufferOrWrite('debug'),
    info: bufferOrWrite('info'),
    warn: bufferOrWrite('warn'),
    error: bufferOrWrite('error'),
    replay(log) {
      real = log;
      for (const write of buffered.splice(0)) write(log);
    },
  };
}
