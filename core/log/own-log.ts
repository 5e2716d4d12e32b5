// The host's log: messages of the host and its plugins, through pino, and captured output, in one file and for
// subscribers.
import { access, constants, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pino } from 'pino';
import type { Logger, LogHub, LogLevel } from '../contract/log.ts';
import { GuardedDirectory } from '../kit/guarded-directory.ts';
import { type LineSettings, LogWriter, type LogWriterOptions, rotationOf } from './log-writer.ts';
import { messageLines } from './message-lines.ts';

interface LogSettings extends LineSettings {
  readonly logLevel: LogLevel;
  readonly httpLogLevel: LogLevel;
}

export interface LoggingOptions extends LogWriterOptions {
  readonly directory: string;
  readonly settings: () => LogSettings;
}

export interface Logging {
  readonly hub: LogHub;
  /** A logger whose records begin with `name: `. */
  logger(name: string): Logger;
  /** Writes synchronously, because the process may be about to end. */
  fatal(message: string, error: unknown): void;
  /** Applies changed log levels. */
  applySettings(): void;
  /** Begins a new file with the next line. */
  rotate(): void;
  close(): Promise<void>;
}

const PINO_LEVELS: Readonly<Record<LogLevel, string>> = {
  DEBUG: 'debug',
  INFO: 'info',
  WARNING: 'warn',
  ERROR: 'error',
  CRITICAL: 'fatal',
};
const LEVELS_BY_NUMBER: Readonly<Record<number, LogLevel>> = {
  20: 'DEBUG',
  30: 'INFO',
  40: 'WARNING',
  50: 'ERROR',
  60: 'CRITICAL',
};

interface PinoRecord {
  readonly level: number;
  readonly time: number;
  readonly name: string;
  readonly msg: string;
}

export async function createLogging(options: LoggingOptions): Promise<Logging> {
  const { directory, place, fault } =
    options.toDisk === false ? { directory: options.directory } : await usableDirectory(options);
  const writer = new LogWriter(directory, place, options);
  if (fault !== undefined) {
    const reason = messageLines(`host: ${options.directory} cannot be written`, fault, false).join(' ');
    writer.record({ at: Date.now(), level: 'WARNING', text: `${reason}; the log goes to ${directory}` });
  }
  let debug = false;
  const levelOf = (name: string): LogLevel => {
    if (debug) return 'DEBUG';
    return name === 'http' ? options.settings().httpLogLevel : options.settings().logLevel;
  };
  const root = pino(
    { base: null, level: 'trace', formatters: { level: (_label, number) => ({ level: number }) } },
    {
      write(text: string) {
        const { level, time, msg } = JSON.parse(text) as PinoRecord;
        writer.record({ at: time, level: LEVELS_BY_NUMBER[level] ?? 'INFO', text: msg });
      },
    },
  );
  const children = new Map<string, pino.Logger>();
  const child = (name: string): pino.Logger => {
    const known = children.get(name);
    if (known !== undefined) return known;
    const created = root.child({ name }, { level: PINO_LEVELS[levelOf(name)] });
    children.set(name, created);
    return created;
  };
  const applySettings = (): void => {
    for (const [name, logger] of children) logger.level = PINO_LEVELS[levelOf(name)];
  };
  const hub: LogHub = {
    directory,
    name: options.name,
    isFallback: directory !== options.directory,
    subscribe: listener => writer.subscribe(listener),
    writeCaptured: lines => writer.captured(lines),
    level: () => levelOf('host'),
    configuredLevel: () => options.settings().logLevel,
    configuredHttpLevel: () => options.settings().httpLogLevel,
    overrideDebug(enabled) {
      debug = enabled;
      applySettings();
    },
    debugOverridden: () => debug,
    rotation: () => rotationOf(options.settings()),
    flush: () => writer.flush(),
  };
  return {
    hub,
    logger: name => createLogger(child(name), name),
    fatal: (message, error) => writer.writeNow('CRITICAL', messageLines(`host: ${message}`, error, true)),
    applySettings,
    rotate: () => writer.rotate(),
    close: () => writer.close(),
  };
}

function createLogger(logger: pino.Logger, name: string): Logger {
  const at = (level: 'debug' | 'info' | 'warn' | 'error') => (message: string, error?: unknown) => {
    if (!logger.isLevelEnabled(level)) return;
    for (const line of messageLines(`${name}: ${message}`, error, logger.isLevelEnabled('debug'))) logger[level](line);
  };
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}

interface UsableDirectory {
  readonly directory: string;
  /** The directory, open; absent when nothing goes to the disk. */
  readonly place?: GuardedDirectory;
  /** Why the configured directory cannot be used; absent when it is used. */
  readonly fault?: unknown;
}

/** The configured directory, or a private temporary one if that cannot be written. */
async function usableDirectory({ directory, owner }: LoggingOptions): Promise<UsableDirectory> {
  try {
    const place = await GuardedDirectory.open(directory, { owner: owner() });
    await access(directory, constants.W_OK);
    return { directory, place };
  } catch (fault) {
    const fallback = await mkdtemp(path.join(tmpdir(), 'stackwarden-log-'));
    return { directory: fallback, place: await GuardedDirectory.open(fallback), fault };
  }
}
