// Logs as plugins see them: levels, a plugin's logger, and the hub through which every line of the host's log passes.
import type { Disposer } from './disposer.ts';

export type LogLevel = 'DEBUG' | 'INFO' | 'WARNING' | 'ERROR' | 'CRITICAL';

export interface Rotation {
  /** A file is renamed before an append that would make it larger than this. */
  readonly maxBytes: number;
  /** Number of older files that are kept. */
  readonly keep: number;
}

export interface Logger {
  debug(message: string, error?: unknown): void;
  info(message: string, error?: unknown): void;
  warn(message: string, error?: unknown): void;
  error(message: string, error?: unknown): void;
}

/** One line of the host's log before it is formatted as text. */
export interface LogLine {
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly level: LogLevel;
  /** The redacted message on one line, without time, level and process. The host's lines begin with their source. */
  readonly text: string;
  /** Name of the process whose captured output this is; absent for the host's own lines. */
  readonly processName?: string;
}

/** Lines of one process that were captured at the same time, on their way into the host's log. */
export interface CapturedLines {
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly processName: string;
  /**
   * The lines in UTF-8, redacted and formatted as in a log, each with its line break, without lines below the level of
   * `configuredLevel`. The caller must not change the bytes until `flush` has resolved.
   */
  readonly block: Uint8Array;
}

/** The host's log: its level, a subscription to its lines, and the way of captured output into it. */
export interface LogHub {
  /**
   * Calls the listener with every line of the host's log, in order, in batches. All listeners share a batch and must
   * not change it. Captured output is parsed only while there is a listener, so end a subscription that is not needed.
   */
  subscribe(listener: (records: readonly LogLine[]) => void): Disposer;
  /** Writes captured output of a process to the host's log and to its listeners. */
  writeCaptured(lines: CapturedLines): void;
  /** The level in force for the host's own lines. */
  level(): LogLevel;
  /** The level that `dumb.log_level` names. */
  configuredLevel(): LogLevel;
  /** The level that `dumb.api_service.log_level` names. */
  configuredHttpLevel(): LogLevel;
  /** With true, the level is DEBUG until a call with false or a restart. The configuration does not change. */
  overrideDebug(enabled: boolean): void;
  /** Whether `overrideDebug` is in force. */
  debugOverridden(): boolean;
  /** Directory and base name of the host's log, whose files are `<directory>/<name>-YYYY-MM-DD.log`. */
  readonly directory: string;
  readonly name: string;
  /** Whether `directory` is a private one of the host, because the configured one cannot be written. */
  readonly isFallback: boolean;
  /** The rotation of all log files, from `dumb.log_size` and `dumb.log_count`. */
  rotation(): Rotation;
  /** Resolves when every line so far is on disk or has been counted as dropped. */
  flush(): Promise<void>;
}
