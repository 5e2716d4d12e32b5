// Logs: levels, the logger of a plugin, and where every line of the own log passes.
import type { Disposer } from './plugin.ts';

export type LogLevel = 'DEBUG' | 'INFO' | 'WARNING' | 'ERROR' | 'CRITICAL';

export interface Rotation {
  /** A file that an append would make larger than this is renamed first. */
  readonly maxBytes: number;
  /** Renamed files that are kept. */
  readonly keep: number;
}

export interface Logger {
  debug(message: string, error?: unknown): void;
  info(message: string, error?: unknown): void;
  warn(message: string, error?: unknown): void;
  error(message: string, error?: unknown): void;
}

/** One line of the own log before it has become text. */
export interface LogLine {
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly level: LogLevel;
  /** Redacted, one line, without time, level and process. A record of our own begins with the part that wrote it: `host: `. */
  readonly text: string;
  /** Set for captured output: whose it is. */
  readonly processName?: string;
}

export interface LogHub {
  /** Everything that goes into the own log, in its order, in batches. A batch is shared by all listeners: none changes it. */
  subscribe(listener: (records: readonly LogLine[]) => void): Disposer;
  /** Captured output of a process, already redacted: into the own log and to subscribers. */
  writeCaptured(lines: readonly LogLine[]): void;
  /** Level in force for own records. */
  level(): LogLevel;
  /** Level of `dumb.log_level`. */
  configuredLevel(): LogLevel;
  /** Level of `dumb.api_service.log_level`. */
  configuredHttpLevel(): LogLevel;
  /** true: DEBUG until switched off or restarted; the configuration is not touched. */
  overrideDebug(enabled: boolean): void;
  debugOverridden(): boolean;
  /** Folder and base name of the own log: files are `<directory>/<name>-YYYY-MM-DD.log`. */
  readonly directory: string;
  readonly name: string;
  /** Settings for other rotating files: `dumb.log_size` in bytes and `dumb.log_count`. */
  rotation(): Rotation;
  /** Resolves when everything handed over stands on disk, or was counted as dropped. */
  flush(): Promise<void>;
}
