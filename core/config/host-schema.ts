// The host's own part of the configuration, which the core itself reads. Plugins contribute everything else.
import { z } from 'zod';
import { PRINTABLE } from '../kit/printable.ts';

const names = z.array(z.string());
/** The kernel keeps the number above for "no user". */
const MAX_ID = 2 ** 32 - 2;
const id = z.number().int().positive().max(MAX_ID).default(1000);
/** Begins the names of files in the log directory, so it leads nowhere else. */
export const logName = z
  .string()
  .min(1)
  .max(100)
  .regex(/^(?!\.)[^/\0-\x1f]+$/, 'must be a plain name, without a slash and without a dot in front');
const port = z.number().int().min(1).max(65_535);
/** Marks members whose changes take effect at the next start of the host. */
const AT_START = { live: false };

/** Defaults may be written back into the file, so each keeps the meaning of an absent member. */
const productSchema = z.looseObject({
  log_level: z.string().default('INFO'),
  log_name: logName.default('DUMB').meta(AT_START),
  log_dir: z.string().optional().meta(AT_START),
  log_count: z.number().int().min(0).default(2),
  log_size: z.union([z.string(), z.number()]).default('10M'),
  color_log: z.boolean().default(true),
  api_service: z
    .looseObject({
      enabled: z.boolean().default(true).meta(AT_START),
      process_name: z.string().regex(PRINTABLE).default('DUMB API'),
      log_level: z.string().default('INFO'),
      host: z.string().min(1).default('127.0.0.1').meta(AT_START),
      port: port.default(8000).meta(AT_START),
      allowed_hosts: names
        .default([])
        .describe('host names by which requests may come while authentication is off, beside those of the own network'),
      mask_secrets: z.boolean().default(false).describe('whether answers show secrets as a mask'),
    })
    .prefault({}),
  frontend: z.looseObject({ origins: names.default([]).describe('origins whose pages may call the API') }).prefault({}),
  plugins: z
    .looseObject({
      enabled: names.default([]).describe('only these plugins; empty: all'),
      disabled: names.default([]),
      dirs: names.default([]).describe('more directories of plugin folders'),
      override: names.default([]).describe('plugins that a later directory may replace'),
      required: names.default(['auth', 'config', 'process']),
    })
    .prefault({}),
});

export const hostSchema = z.looseObject({
  puid: id.describe('user that managed services run as; never 0'),
  pgid: id,
  tz: z.string().default(''),
  data_root: z.string().default('/data'),
  dumb: productSchema.prefault({}),
});
