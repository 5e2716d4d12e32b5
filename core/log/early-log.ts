// Holds what is logged before the configuration says where the log is.
import type { Logger } from '../contract/log.ts';

export interface EarlyLog extends Logger {
  /** Hands everything held over to the real log, and from now on whatever comes. */
  replay(log: Logger): void;
}

export function createEarlyLog(): EarlyLog {
  const held: ((log: Logger) => void)[] = [];
  let real: Logger | undefined;
  const hold = (level: keyof Logger) => (message: string, error?: unknown) => {
    if (real === undefined) held.push(log => log[level](message, error));
    else real[level](message, error);
  };
  return {
    debug: hold('debug'),
    info: hold('info'),
    warn: hold('warn'),
    error: hold('error'),
    replay(log) {
      real = log;
      for (const write of held.splice(0)) write(log);
    },
  };
}
