// The settings in `dbrepair` of the server's block; members that are not valid count as absent.
import path from 'node:path';
import { z } from 'zod';

const minutes = (usual: number) => z.number().positive().catch(usual);
const text = (usual: string) => z.string().catch(usual);
const texts = (usual: readonly string[]) => z.array(z.string()).catch([...usual]);

const schema = z.object({
  enabled: z.boolean().catch(false),
  run_before_start: z.boolean().catch(false),
  interval_minutes: minutes(10_080),
  idle_check_minutes: minutes(5),
  backoff_multiplier: z.number().min(1).catch(2),
  max_backoff_minutes: minutes(60),
  max_wait_minutes: z.number().min(0).catch(0),
  install_dir: text('/data/dbrepair'),
  executable: text('DBRepair.sh'),
  sqlite_path: text(''),
  databases_path: text(''),
  required_args: texts([]),
  script_args: texts(['auto']),
  log_file: text('plex_dbrepair.log'),
  work_dir: text(''),
  command: texts([]),
  env: z.record(z.string(), z.coerce.string()).catch({}),
});

const MS_PER_MIN = 60_000;

export interface RepairSettings {
  readonly enabled: boolean;
  readonly beforeStart: boolean;
  readonly intervalMs: number;
  readonly idleCheckMs: number;
  /** The factor by which the pause grows each time the server is found in use. */
  readonly backoff: number;
  readonly maxPauseMs: number;
  /** How long to wait for an idle server before the interval is given up; 0 for no limit. */
  readonly maxWaitMs: number;
  readonly command: readonly string[];
  readonly workDir: string;
  readonly env: Readonly<Record<string, string>>;
  readonly logFile: string;
}

export function settingsOf(block: Readonly<Record<string, unknown>>): RepairSettings {
  const given = typeof block.dbrepair === 'object' && block.dbrepair !== null ? block.dbrepair : {};
  const read = schema.parse(given);
  return {
    enabled: read.enabled,
    beforeStart: read.run_before_start,
    intervalMs: read.interval_minutes * MS_PER_MIN,
    idleCheckMs: read.idle_check_minutes * MS_PER_MIN,
    backoff: read.backoff_multiplier,
    maxPauseMs: read.max_backoff_minutes * MS_PER_MIN,
    maxWaitMs: read.max_wait_minutes * MS_PER_MIN,
    command: read.command.length > 0 ? read.command : usualCommand(read),
    workDir: read.work_dir || read.install_dir,
    env: read.env,
    logFile: read.log_file,
  };
}

/** The tool must be told where its files are, except in the vendor's own container. */
function usualCommand(read: z.output<typeof schema>): string[] {
  const places = [
    ...(read.sqlite_path === '' ? [] : ['--sqlite', read.sqlite_path]),
    ...(read.databases_path === '' ? [] : ['--databases', read.databases_path]),
  ];
  const required = read.required_args.length > 0 ? read.required_args : places;
  return [path.join(read.install_dir, read.executable), ...required, ...read.script_args];
}
