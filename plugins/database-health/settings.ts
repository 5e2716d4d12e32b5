// The settings in `dumb.metrics.database_health`. Values that a file already holds are brought into bounds, not
// refused.
import { z } from 'zod';
import type { ProbeMode } from './contract.ts';

const MIN_INTERVAL_S = 15;
const MAX_INTERVAL_S = 3_600;
const DEFAULT_INTERVAL_S = 60;
const MIN_TAIL_BYTES = 16_384;
const MAX_TAIL_BYTES = 4_194_304;
const DEFAULT_TAIL_BYTES = 262_144;

const serviceSettings = z.looseObject({
  enabled: z.boolean().default(false).meta({ description: 'Whether the databases of this service are looked at' }),
  mode: z.enum(['standard', 'enhanced']).default('standard').meta({
    description: 'Whether they are only looked at from outside (standard), or opened to read facts (enhanced)',
  }),
  ignore_network_storage: z
    .boolean()
    .default(false)
    .meta({ description: 'Whether a database on a network file system counts as well placed' }),
});

export const databaseHealthSection = z.object({
  enabled: z
    .boolean()
    .default(false)
    .meta({ description: 'Whether databases are looked at; each service must be switched on too' }),
  interval_sec: z
    .int()
    .min(MIN_INTERVAL_S)
    .max(MAX_INTERVAL_S)
    .default(DEFAULT_INTERVAL_S)
    .meta({ description: 'Seconds between two looks at the databases of a service' }),
  log_tail_bytes: z
    .int()
    .min(MIN_TAIL_BYTES)
    .max(MAX_TAIL_BYTES)
    .default(DEFAULT_TAIL_BYTES)
    .meta({ description: 'How much of the end of a log is searched at most' }),
  services: z
    .record(z.string(), z.union([serviceSettings, z.boolean(), z.number(), z.string()]))
    .default({})
    .meta({ description: 'The services whose databases are looked at, by id; a plain value is a switch' }),
});

export interface ServiceSettings {
  readonly enabled: boolean;
  readonly mode: ProbeMode;
  readonly ignoresNetwork: boolean;
}

export interface HealthSettings {
  readonly enabled: boolean;
  readonly intervalS: number;
  readonly tailBytes: number;
  /** The settings of the service or instance with this id (see `Candidate.id`). */
  of(id: string): ServiceSettings;
}

/** Reads the section as it is in force. */
export function readSettings(section: unknown): HealthSettings {
  const { enabled, interval_sec, log_tail_bytes, services } = recordOf(section);
  const byId = recordOf(services);
  return {
    enabled: enabled === true,
    intervalS: bounded(interval_sec, DEFAULT_INTERVAL_S, MIN_INTERVAL_S, MAX_INTERVAL_S),
    tailBytes: bounded(log_tail_bytes, DEFAULT_TAIL_BYTES, MIN_TAIL_BYTES, MAX_TAIL_BYTES),
    of(id) {
      const value = Object.hasOwn(byId, id) ? byId[id] : undefined;
      const given = recordOf(typeof value === 'object' ? value : { enabled: isOn(value) });
      return {
        enabled: given.enabled === true,
        mode: given.mode === 'enhanced' ? 'enhanced' : 'standard',
        ignoresNetwork: given.ignore_network_storage === true,
      };
    },
  };
}

/** YAML 1.2 reads words such as `no` as texts. */
function isOn(value: unknown): boolean {
  return typeof value === 'string' ? !/^(|0|n|no|off|false)$/i.test(value.trim()) : Boolean(value);
}

function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

function bounded(value: unknown, otherwise: number, min: number, max: number): number {
  return typeof value === 'number' && Number.isFinite(value)
    ? Math.trunc(Math.min(Math.max(value, min), max))
    : otherwise;
}
