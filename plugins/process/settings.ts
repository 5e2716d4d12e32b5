// Configuration of supervision: the keys that every process block may have, and its sections of `dumb`.
import { z } from 'zod';
import { PRINTABLE } from '#kit/printable';

const port = z.number().int().min(1).max(65_535);
/** The kernel takes a text only up to its first NUL. */
const text = z.string().refine(value => !value.includes('\0'), 'it must not hold a NUL character');
const texts = z.array(text);
const oneOrMany = z.union([text, texts]);
const seconds = z.number().min(0);
const VARIABLE_NAME = /^[^=\p{Cc}]+$/u;
/** Marks members that are read at each use, so that changes take effect at once. */
const LIVE = { live: true };

const urlWait = z.looseObject({
  url: z.string().min(1).meta({ identity: true }),
  auth: z.looseObject({ user: z.string(), password: z.string().meta({ secret: true }) }).optional(),
  probe_method: z.string().optional(),
  probe_headers: z.record(z.string(), z.string()).optional(),
  timeout: z.number().positive().optional(),
  expected_json_path: z.string().optional(),
});
const tcpWait = z.looseObject({
  name: z.string().optional(),
  host: z.string().optional(),
  port,
  timeout: z.number().positive().optional(),
});

/** Has no defaults, because an editor in a browser would write them into the block. */
export const blockSchema = z.looseObject({
  enabled: z.boolean().optional().meta(LIVE).describe('started at boot and shown on the dashboard'),
  process_name: z.string().regex(PRINTABLE, 'it must be one line without control characters').describe('unique name'),
  command: oneOrMany.optional().describe('program and arguments; a text is split as a shell would, no shell runs'),
  config_dir: text.optional().describe('working directory'),
  config_file: text.optional(),
  env: z
    .record(
      z.string().regex(VARIABLE_NAME, 'it is no name of a variable'),
      z.union([text, z.number(), z.boolean(), z.null()]),
    )
    .optional()
    .describe('null removes a variable'),
  env_passthrough: texts
    .optional()
    .describe('variables of the environment of Stackwarden that this service receives although they are secret'),
  host: z.string().optional(),
  port: port.optional(),
  frontend_port: port.optional(),
  backend_port: port.optional(),
  webdav_port: port.optional(),
  log_file: text
    .optional()
    .meta(LIVE)
    .describe('relative names lie below the log directory; with <date> in it, the newest file that fits is shown'),
  access_log_file: text.optional(),
  log_level: z.string().optional().meta(LIVE),
  suppress_logging: z.boolean().optional().meta(LIVE),
  wait_for_url: z.union([z.string(), urlWait, z.array(z.union([z.string(), urlWait]))]).optional(),
  wait_for_dir: z.union([z.string(), z.array(z.union([z.string(), z.looseObject({ path: z.string() })]))]).optional(),
  wait_for_mounts: texts.optional(),
  wait_for_tcp: z.union([tcpWait, z.array(tcpWait)]).optional(),
  wait_timeout_seconds: seconds.optional(),
  env_copy: z
    .looseObject({ source: text, destination: text })
    .optional()
    .describe('copied before each start, if the source is there'),
  repo_owner: z.string().optional(),
  repo_name: z.string().optional(),
  core_service: oneOrMany.optional(),
  core_services: oneOrMany.optional(),
  stop_signal: z.enum(['SIGTERM', 'SIGINT', 'SIGQUIT']).optional().meta(LIVE),
  stop_grace_seconds: z.number().min(1).max(600).optional().meta(LIVE),
});

export const startupSection = z.looseObject({
  readiness_timeout_seconds: seconds.default(300),
  readiness_poll_interval_seconds: z.number().positive().default(5),
  stabilization_seconds: seconds.default(15),
});

export const shutdownSection = z.looseObject({
  timeout_seconds: z.number().min(10).max(900).default(120).describe('budget of the whole shutdown'),
  keep_services: z.boolean().default(false).describe('SIGTERM leaves the services running for the next start to adopt'),
});

export interface StartupSettings {
  readonly readinessTimeoutMs: number;
  readonly pollMs: number;
  readonly stabilizationMs: number;
}

/** The current sections. One that does not fit counts as absent, although `GET /config` still shows it. */
export class SupervisionSettings {
  readonly #get: (path: readonly string[]) => unknown;

  constructor(get: (path: readonly string[]) => unknown) {
    this.#get = get;
  }

  startup(): StartupSettings {
    const section = this.#read('startup', startupSection);
    return {
      readinessTimeoutMs: section.readiness_timeout_seconds * 1_000,
      pollMs: section.readiness_poll_interval_seconds * 1_000,
      stabilizationMs: section.stabilization_seconds * 1_000,
    };
  }

  shutdown(): { readonly budgetMs: number; readonly keepServices: boolean } {
    const section = this.#read('shutdown', shutdownSection);
    return { budgetMs: section.timeout_seconds * 1_000, keepServices: section.keep_services };
  }

  #read<Schema extends z.ZodType>(name: string, schema: Schema): z.output<Schema> {
    const parsed = schema.safeParse(this.#get(['dumb', name]) ?? {});
    return parsed.success ? parsed.data : schema.parse({});
  }
}
