// The host's own settings, read from the effective configuration.
import { bytesOf, hostSchema } from '../config/host-schema.ts';
import type { ConfigState } from '../contract/config.ts';
import { parseLevel } from '../kit/log-level.ts';

export type Settings = ReturnType<typeof readSettings>;

const DEFAULT_REQUIRED = hostSchema.parse({}).dumb.plugins.required;

/**
 * `root` is the whole effective configuration, in which defaults replace values that do not fit (core/config/fit.ts).
 * While it is `safe`, nothing tells how many older logs are wanted, and all are kept.
 */
export function readSettings(root: Readonly<Record<string, unknown>>, state: ConfigState = 'valid') {
  const { dumb, puid, pgid } = hostSchema.parse(root);
  const { enabled, host, port, log_level: httpLogLevel } = dumb.api_service;
  const { required } = dumb.plugins;
  return {
    logName: dumb.log_name,
    logDir: dumb.log_dir === '' ? undefined : dumb.log_dir,
    log: {
      logLevel: parseLevel(dumb.log_level),
      httpLogLevel: parseLevel(httpLogLevel),
      maxBytes: bytesOf(dumb.log_size),
      keep: state === 'safe' ? Number.MAX_SAFE_INTEGER : dumb.log_count,
      color: dumb.color_log,
      format: dumb.log_format,
      milliseconds: dumb.log_milliseconds,
    },
    /** The owner of files that services have to read; null when the host cannot give files to other users. */
    serviceOwner: process.getuid?.() === 0 ? { uid: puid, gid: pgid } : null,
    api: { enabled, host, port },
    /** `requiredByUser`: whether the configured list differs from the default one. */
    plugins: { ...dumb.plugins, requiredByUser: required.join() !== DEFAULT_REQUIRED.join() },
  };
}
