// What a session is told: where the lines of its process go, and under which settings.
import type { CapturedLines, Logger, LogLevel, Rotation } from '#core';

/** Where the lines of one process are written. */
export interface CaptureTarget {
  readonly processName: string;
  /** The service's own log, when the host writes it; null when it does not. */
  readonly logFile: string | null;
  /**
   * File for the access lines of a proxy, which then do not go to the other logs; null treats them as ordinary lines.
   */
  readonly accessLogFile: string | null;
  /** Lowest level that is written to `logFile`. */
  readonly logLevel: LogLevel;
  /** Whether output is kept out of the own log and its stream. */
  readonly suppressed: boolean;
  /** Owner that `logFile` is given to; null for the host's own user. */
  readonly owner: { readonly uid: number; readonly gid: number } | null;
}

export interface SessionOptions {
  readonly rotation: () => Rotation;
  /** Lowest level that is written to the own log. */
  readonly ownLevel: () => LogLevel;
  /** Passes lines to the own log and its stream; resolves when they were written. */
  readonly deliver: (lines: CapturedLines) => Promise<void>;
  readonly log: Pick<Logger, 'warn' | 'error'>;
}
