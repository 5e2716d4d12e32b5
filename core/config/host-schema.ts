// The host's own part of the configuration, which the core itself reads. Plugins contribute everything else.
import { z } from 'zod';
import { findLevel, LEVELS } from '../kit/log-level.ts';
import { PRINTABLE, PRINTABLE_WORDS } from '../kit/printable.ts';

const names = z.array(z.string());
/** Marks members by which the host could be made to use its rights elsewhere. */
const NEEDS_LOGIN = { needsLogin: true };
/** The kernel keeps the number above for "no user". */
const MAX_ID = 2 ** 32 - 2;
/** Without a fallback: services under another user than the configured one would leave files that it cannot use. */
const id = z
  .number()
  .int()
  .positive()
  .max(MAX_ID)
  .default(1000)
  .meta({ fallback: false, ...NEEDS_LOGIN });
/** The beginning of file names in the log directory, so it must not lead out of that. */
const logName = z
  .string()
  .min(1)
  .max(100)
  .regex(/^(?!\.)[^/\0-\x1f]+$/, 'must be a plain name, without a slash and without a dot in front');
const SIZE = /^(\d+(?:\.\d+)?)\s*([KMG]?)B?$/i;
const UNITS: Record<string, number> = { '': 1, K: 1024, M: 1024 ** 2, G: 1024 ** 3 };
const level = z
  .string()
  .refine(word => findLevel(word) !== undefined, `it must be one of ${LEVELS.join(', ')}`)
  .default('INFO');
const port = z.number().int().min(1).max(65_535);
/** Marks members whose changes take effect at the next start of the host. */
const AT_START = { live: false };

/** Defaults may be written back into the file, so each means the same as an absent member. */
const productSchema = z.looseObject({
  log_level: level.describe('least level of the own log: DEBUG, INFO, WARNING, ERROR or CRITICAL'),
  log_name: logName.default('DUMB').meta(AT_START).describe('first part of the names of the own log files'),
  log_dir: z
    .string()
    .optional()
    .meta({ ...AT_START, ...NEEDS_LOGIN })
    .describe('directory of the logs; absent: /log where it exists, else log in the configuration directory'),
  log_count: z.number().int().min(0).default(2).describe('how many older files of each log are kept'),
  log_size: z
    .union([z.string(), z.number()])
    .refine(size => bytesOf(size) > 0, 'it must be a size, such as 500K, 10M or 1G')
    .default('10M')
    .describe('size at which a log is rotated, such as 10M'),
  log_format: z
    .enum(['text', 'json'])
    .default('text')
    .describe('how lines stand in the own log and on standard output: text, or one JSON object each'),
  log_milliseconds: z
    .boolean()
    .default(false)
    .describe('whether times of the own log have milliseconds; JSON always has them'),
  color_log: z.boolean().default(true).describe('colours of levels on a terminal'),
  api_service: z
    .looseObject({
      enabled: z
        .boolean()
        .default(true)
        .meta(AT_START)
        .describe('whether the API is served; without it services are supervised all the same'),
      process_name: z
        .string()
        .regex(PRINTABLE, PRINTABLE_WORDS)
        .default('DUMB API')
        .describe('name of its entry among the processes'),
      log_level: level.describe('least level of lines about requests'),
      host: z.string().min(1).default('127.0.0.1').meta(AT_START).describe('address to listen on; 0.0.0.0 means all'),
      port: port.default(8000).meta(AT_START).describe('port to listen on'),
      allowed_hosts: names
        .default([])
        .describe('host names by which requests may come while authentication is off, beside those of the own network'),
      trusted_proxies: names.default([]).describe('addresses or networks whose X-Forwarded headers are believed'),
      file_roots: names.default([]).meta(NEEDS_LOGIN).describe("further directories of services' own files and logs"),
      mask_secrets: z.boolean().default(false).describe('whether answers show secrets as a mask'),
    })
    .prefault({})
    .describe('the API'),
  frontend: z
    .looseObject({ origins: names.default([]).describe('origins whose pages may call the API') })
    .prefault({})
    .describe('the web frontend'),
  plugins: z
    .looseObject({
      enabled: names.default([]).describe('only these plugins; empty: all'),
      disabled: names.default([]).describe('plugins that are left out'),
      dirs: names.default([]).meta(NEEDS_LOGIN).describe('more directories of plugin folders'),
      override: names
        .default([])
        .describe('plugins that replace the one of their name, or else have what they register before the product'),
      required: names.default(['auth', 'config', 'process']).describe('plugins without which the host does not start'),
    })
    .prefault({})
    .describe('which plugins are loaded, and from where'),
});
/** Masks unknown members: a section of a plugin that is not loaded may hold keys and addresses with tokens. */
const sections = productSchema.meta({ masksUnknown: true });

export const hostSchema = z.looseObject({
  puid: id.describe('user that managed services run as; never 0'),
  pgid: id.describe('group that managed services run as; never 0'),
  tz: z.string().default('').describe('time zone of services, such as Europe/Berlin'),
  data_root: z
    .string()
    .default('/data')
    .meta(NEEDS_LOGIN)
    .describe('where the folders of the services move when it is a mount'),
  dumb: sections.prefault({}).describe('settings of Stackwarden itself'),
});

/** The bytes of a size such as 10M; 0 for a text that is no size. */
export function bytesOf(size: string | number): number {
  const [, digits = '0', unit = ''] = SIZE.exec(String(size).trim()) ?? [];
  return Number(digits) * (UNITS[unit.toUpperCase()] ?? 1);
}
