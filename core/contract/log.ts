// Logs as plugins see them: levels, a plugin's logger, and the hub through which every line of the own log passes.
import type { Disposer } from './disposer.ts';

export type LogLevel = 'DEBUG' | 'INFO' | 'WARNING' | 'ERROR' | 'CRITICAL';

export interface Rotation {
  /** A file is renamed before an append that would make it larger than this. */
  readonly maxBytes: number;
  /** Number of renamed files that are kept. */
  readonly keep: number;
}

export interface Logger {
  debug(message: string, error?: unknown): void;
  info(message: string, error?: unknown): void;
  warn(message: string, error?: unknown): void;
  error(message: string, error?: unknown): void;
}

/** One line of the own log before it is formatted as text. */
export interface LogLine {
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly level: LogLevel;
  /**
   * Redacted, on one line, without time, level and process. A record of the host begins with its source, such as `host:
   * `.
   */
  readonly text: string;
  /** Name of the process whose captured output this is; absent for the host's own lines. */
  readonly processName?: string;
}

/** Lines of one process that came at the same time, on their way into the own log. */
export interface CapturedLines {
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly processName: string;
  /**
   * The lines in UTF-8, redacted and as they stand in a log, each with its line break; without those below the level of
   * `configuredLevel`. It stays as it is until `flush` has resolved.
   */
  readonly block: Uint8Array;
}

/** The own log: its level, its lines as they come, and captured output on its way into it. */
export interface LogHub {
  /**
   * Receives everything that goes into the own log, in its order, in batches. All listeners share a batch and must not
   * change it. Captured output is taken apart only while somebody listens, so a listener that is not needed should end.
   */
  subscribe(listener: (records: readonly LogLine[]) => void): Disposer;
  /** Writes captured output of a process into the own log and to subscribers. */
  writeCaptured(lines: CapturedLines): void;
  /** The level that is in force for the host's own lines. */
  level(): LogLevel;
  /** Level of `dumb.log_level`. */
  configuredLevel(): LogLevel;
  /** Level of `dumb.api_service.log_level`. */
  configuredHttpLevel(): LogLevel;
  /** True sets the level to DEBUG until it is switched off or the host restarts. The configuration stays as it is. */
  overrideDebug(enabled: boolean): void;
  /** Whether `overrideDebug` is in force. */
  debugOverridden(): boolean;
  /** Directory and base name of the own log, whose files are `<directory>/<name>-YYYY-MM-DD.log`. */
  readonly directory: string;
  readonly name: string;
  /** Whether this is a directory of the host alone, because the configured one cannot be written. */
  readonly isFallback: boolean;
  /** The rotation that all log files share, from `dumb.log_size` and `dumb.log_count`. */
  rotation(): Rotation;
  /** Resolves when every line so far is on disk or has been counted as dropped. */
  flush(): Promise<void>;
}
