// The host's own settings, read leniently from the effective configuration: an unusable value falls back to its
// default.
import { z } from 'zod';
import { logName } from '../config/host-schema.ts';

const names = z.array(z.string()).catch([]);

const settingsSchema = z
  .object({
    log_level: z.string().catch('INFO'),
    log_name: logName.catch('DUMB'),
    log_dir: z.string().optional().catch(undefined),
    log_size: z.union([z.string(), z.number()]).catch('10M'),
    log_count: z.number().int().min(0).catch(2),
    color_log: z.boolean().catch(true),
    log_format: z.enum(['text', 'json']).catch('text'),
    log_milliseconds: z.boolean().catch(false),
    api_service: z
      .object({
        enabled: z.boolean().catch(true),
        log_level: z.string().catch('INFO'),
        host: z.string().min(1).catch('127.0.0.1'),
        port: z.number().int().min(0).max(65_535).catch(8000),
      })
      .catch({ enabled: true, log_level: 'INFO', host: '127.0.0.1', port: 8000 }),
    plugins: z
      .object({
        enabled: names,
        disabled: names,
        dirs: names,
        override: names,
        required: z.array(z.string()).optional(),
      })
      .catch({ enabled: [], disabled: [], dirs: [], override: [] }),
  })
  .transform(dumb => ({
    logLevel: dumb.log_level,
    logName: dumb.log_name,
    logDir: dumb.log_dir === '' ? undefined : dumb.log_dir,
    logBytes: parseSize(dumb.log_size),
    logCount: dumb.log_count,
    colorLog: dumb.color_log,
    logFormat: dumb.log_format,
    logMilliseconds: dumb.log_milliseconds,
    httpLogLevel: dumb.api_service.log_level,
    api: { enabled: dumb.api_service.enabled, host: dumb.api_service.host, port: dumb.api_service.port },
    plugins: dumb.plugins,
  }));

export type Settings = Omit<z.output<typeof settingsSchema>, 'plugins'> & {
  plugins: {
    enabled: readonly string[];
    disabled: readonly string[];
    dirs: readonly string[];
    override: readonly string[];
    required: readonly string[];
    /** Whether the configured list differs from the default one. */
    requiredByUser: boolean;
  };
};

const REQUIRED = ['auth', 'config', 'process'];
const SIZE = /^(\d+(?:\.\d+)?)\s*([KMG]?)B?$/i;
const UNITS: Record<string, number> = { '': 1, K: 1024, M: 1024 ** 2, G: 1024 ** 3 };
const DEFAULT_LOG_BYTES = 10 * 1024 ** 2;

/** `root` is the whole effective configuration. */
export function readSettings(root: Readonly<Record<string, unknown>>): Settings {
  const settings = settingsSchema.parse(root.dumb ?? {});
  const required = settings.plugins.required ?? REQUIRED;
  const requiredByUser = required.join() !== REQUIRED.join();
  return { ...settings, plugins: { ...settings.plugins, required, requiredByUser } };
}

function parseSize(size: string | number): number {
  const [, digits, unit = ''] = SIZE.exec(String(size).trim()) ?? [];
  const bytes = Number(digits) * (UNITS[unit.toUpperCase()] ?? 1);
  return bytes > 0 ? bytes : DEFAULT_LOG_BYTES;
}
