// Configuration of supervision: the keys that every process block may have, and its sections of `dumb`.
import { z } from 'zod';
import { MAX_NAME_LENGTH, PRINTABLE, PRINTABLE_WORDS } from '#kit/printable';

const port = z.number().int().min(1).max(65_535);
/** The kernel reads a string only up to its first NUL. */
const text = z.string().refine(value => !value.includes('\0'), 'it must not hold a NUL character');
const texts = z.array(text);
const oneOrMany = z.union([text, texts]);
const seconds = z.number().min(0);
const VARIABLE_NAME = /^[^=\p{Cc}]+$/u;
/** Marks members that are read at each use, so that changes take effect at once. */
const LIVE = { live: true };
/** Marks members without which the service does the same work. */
const FALLBACK = { fallback: true };
/** Marks what decides which program runs, as whom, and what that is given. */
const PROGRAM = { decidesProgram: true };
/**
 * Marks paths and programs that anybody may set, because access to them is checked when they are used, as the user that
 * uses them.
 */
const OPEN = { needsLogin: false };

/** Marks of members from which the dependency graph reads relations between services. */
const PORT = { relation: 'port' } as const;
const WAIT = { relation: 'wait' } as const;
const SHOWN = { relation: 'shown' } as const;

const dependency = z.string().describe('process_name of the other service');
const condition = z.enum(['started', 'healthy', 'completed']).describe('what must be true of it');
const waitedFor = z.string().optional().describe('the service that answers there, as the dependency graph has it');
/** Other names of the awaited service, in any form: only the dependency graph reads them, and ignores unknown names. */
const alsoWaitedFor = z.unknown().optional().describe('the same as process_name; also by a config key');
const waitedForBy = {
  process_name: waitedFor,
  core_service: alsoWaitedFor,
  core_services: alsoWaitedFor,
  service: alsoWaitedFor,
};

const urlWait = z.looseObject({
  ...waitedForBy,
  url: z.string().min(1).meta({ identity: true }).describe('address that must answer 2xx'),
  auth: z
    .looseObject({
      user: z.string().describe('user name'),
      password: z.string().meta({ secret: true }).describe('password'),
    })
    .optional()
    .describe('credentials that are sent along'),
  probe_method: z.string().optional().describe('method of the request; default GET'),
  probe_headers: z.record(z.string(), z.string()).optional().describe('headers of the request'),
  timeout: z.number().positive().optional().describe('seconds for one request'),
  expected_json_path: z.string().optional().describe('dotted path that the JSON of the answer must have'),
});
const dirWait = z.looseObject({ ...waitedForBy, path: text.describe('the directory') });
const tcpWait = z.looseObject({
  process_name: waitedFor,
  name: z.string().optional().describe('what listens there, for messages'),
  host: z.string().optional().describe('address; default 127.0.0.1'),
  port: port.describe('port that must accept connections'),
  timeout: z.number().positive().optional().describe('seconds for one connection'),
});

/** Has no defaults, because an editor in a browser would write them into the block. */
export const blockSchema = z.looseObject({
  enabled: z
    .boolean()
    .optional()
    .meta({ ...LIVE, relation: 'shown' })
    .describe('started at boot and shown on the dashboard'),
  autostart: z
    .boolean()
    .optional()
    .meta({ ...LIVE, ...FALLBACK })
    .describe('false: it is started by hand only, although it is enabled'),
  process_name: z.string().max(MAX_NAME_LENGTH).regex(PRINTABLE, PRINTABLE_WORDS).describe('unique name'),
  command: oneOrMany
    .optional()
    .meta({ ...OPEN, ...PROGRAM })
    .describe('program and arguments; a text is split as a shell would, no shell runs'),
  config_dir: text
    .optional()
    .meta({ ...PROGRAM, relation: 'read' })
    .describe('working directory'),
  config_file: text
    .optional()
    .meta({ ...PROGRAM, relation: 'read' })
    .describe("the service's own configuration file, an absolute path; edited by /config/service-config"),
  env: z
    .record(
      z.string().regex(VARIABLE_NAME, 'it is no name of a variable'),
      z.union([text, z.number(), z.boolean(), z.null()]),
    )
    .optional()
    .meta(PROGRAM)
    .describe('null removes a variable'),
  env_passthrough: texts
    .optional()
    .meta(PROGRAM)
    .describe('variables of the environment of Stackwarden that this service receives although they are secret'),
  host: z.string().optional().describe('address that the service listens on; `{host}` in command and env'),
  port: port
    .optional()
    .meta(PORT)
    .describe('port of the service; checked before the start, and moved upward when it is taken'),
  frontend_port: port.optional().meta(PORT).describe('port of its web interface, where that has one of its own'),
  backend_port: port.optional().meta(PORT).describe('port of its API, where that has one of its own'),
  webdav_port: port.optional().describe('port of its WebDAV'),
  log_file: text
    .optional()
    .meta({ ...LIVE, ...FALLBACK, ...OPEN })
    .describe(
      'where its output is logged, relative to the log directory; with <date> in it, the newest file that fits is shown',
    ),
  access_log_file: text
    .optional()
    .meta({ ...FALLBACK, ...OPEN })
    .describe('where those lines of its output go that tell of requests'),
  log_level: z
    .string()
    .optional()
    .meta({ ...LIVE, ...FALLBACK })
    .describe('level that the service is told, or that its lines must have'),
  suppress_logging: z
    .boolean()
    .optional()
    .meta({ ...LIVE, ...FALLBACK })
    .describe('keeps its output out of the own log'),
  user: z
    .union([z.string(), z.number().int()])
    .optional()
    .meta(PROGRAM)
    .describe('user that it runs as instead of puid and pgid: a name or a number, also with `:group`; never root'),
  wait_for_url: z
    .union([z.string(), urlWait, z.array(z.union([z.string(), urlWait]))])
    .optional()
    .meta({ relation: 'address' })
    .describe('addresses that must answer before the start'),
  wait_for_dir: z
    .union([text, dirWait, z.array(z.union([text, dirWait]))])
    .optional()
    .meta(WAIT)
    .describe('directories that must exist before the start'),
  wait_for_mounts: texts
    .optional()
    .meta(SHOWN)
    .describe('directories on which something must be mounted before the start'),
  wait_for_tcp: z
    .union([tcpWait, z.array(tcpWait)])
    .optional()
    .meta(WAIT)
    .describe('ports that must accept connections before the start'),
  depends_on: z
    .union([
      z.string(),
      z.array(z.union([z.string(), z.looseObject({ process_name: dependency, condition: condition.optional() })])),
      z.record(z.string(), z.union([condition, z.looseObject({ condition: condition.optional() })])),
    ])
    .optional()
    .meta({ relation: 'read' })
    .describe(
      'services that must be started (the default), healthy or completed before the start: names, or conditions by name',
    ),
  wait_timeout_seconds: seconds
    .optional()
    .meta(FALLBACK)
    .describe(
      'how long a start waits for these; default 600, but a boot waits for directories and mounts without a limit',
    ),
  env_copy: z
    .looseObject({ source: text.describe('the file to copy'), destination: text.describe('where the copy goes') })
    .optional()
    .meta(PROGRAM)
    .describe('copied before each start, if the source is there'),
  repo_owner: z
    .string()
    .optional()
    .meta({ ...FALLBACK, ...PROGRAM })
    .describe('owner of its repository on GitHub'),
  repo_name: z
    .string()
    .optional()
    .meta({ ...FALLBACK, ...PROGRAM })
    .describe('name of its repository on GitHub'),
  core_service: oneOrMany.optional().meta(SHOWN).describe('keys of the services that it belongs to'),
  core_services: oneOrMany.optional().meta(SHOWN).describe('the same as core_service'),
  oneshot: z
    .boolean()
    .optional()
    .describe('it does its work and ends: exit code 0 is success, and what needs it starts then; runs at each boot'),
  stdin: z
    .boolean()
    .optional()
    .meta(PROGRAM)
    .describe('it has a standard input, to which /process/input writes; it survives a restart of Stackwarden'),
  stop_signal: z
    .enum(['SIGTERM', 'SIGINT', 'SIGQUIT'])
    .optional()
    .meta({ ...LIVE, ...FALLBACK })
    .describe('signal that asks it to end; default SIGTERM'),
  stop_grace_seconds: z
    .number()
    .min(1)
    .max(600)
    .optional()
    .meta({ ...LIVE, ...FALLBACK })
    .describe('how long it may take to end before it is killed'),
});

const mount = z.unknown().meta(SHOWN);

/** Keys by which any block, even one without a template, tells what it mounts. Editors do not offer them. */
export const mountKeys = z.looseObject({
  mount_path: mount,
  mount_dir: mount,
  mount_name: mount,
  mount_type: mount,
});

export const startupSection = z.looseObject({
  readiness_timeout_seconds: seconds.default(300).describe('how long the boot waits for services to be ready'),
  readiness_poll_interval_seconds: z.number().positive().default(5).describe('pause between two looks at them'),
  stabilization_seconds: seconds.default(15).describe('how long all must stay ready before the boot counts as over'),
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

/**
 * The current settings. A section that does not fit its schema counts as absent, although `GET /config` still shows it.
 */
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
