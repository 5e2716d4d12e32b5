// The health of databases on the wire, in full and as the history of metrics keeps it.
import { z } from 'zod';
import type { ResponseBody } from '#core';
import { queryBoolean } from '#kit/query-values';
import type { DatabaseFacts } from './contract.ts';
import type { Overview, ServiceHealth } from './health.ts';
import { NO_FINDINGS, SIGNALS } from './log-signals.ts';

const PRESSURES = [
  'disabled',
  'collecting',
  'observing',
  'unavailable',
  'healthy',
  'moderate',
  'high',
  'critical',
] as const;

type Pressure = (typeof PRESSURES)[number];

const ADVICE: Readonly<Record<'disabled' | 'collecting' | 'starting', string>> = {
  disabled: 'Switch on the health of databases, for all and for this service, to have them looked at.',
  collecting: 'The databases are being looked at.',
  starting: 'The databases are not looked at while the service starts.',
};

/** Members of a database that the history keeps. */
const KEPT = [
  'role',
  'name',
  'exists',
  'size_bytes',
  'wal_size_bytes',
  'file_count',
  'scan_truncated',
  'store_kind',
  'probe_ms',
  'lock_waiters',
  'deadlocks_delta',
  'temp_bytes_delta',
];

const int = z.int();
const seconds = z.number().nullable();
const signalsSchema = z.object({ locked: int, busy: int, timeout: int, io_error: int, deadlock: int });

const serviceSchema = z.lazy(() =>
  z.object({
    id: z.string(),
    config_key: z.string(),
    instance_name: z.string().nullable(),
    process_name: z.string(),
    provider: z.string(),
    monitoring_enabled: z.boolean(),
    mode: z.enum(['standard', 'enhanced']),
    ignore_network_storage: z.boolean(),
    pressure: z.enum(PRESSURES),
    score: z.int().min(0).max(100),
    reasons: z.array(z.string()),
    recommendation: z.string(),
    collected_at: seconds,
    databases: z.array(z.looseObject({ role: z.string(), exists: z.boolean().nullable() })),
    log_signals: signalsSchema,
    log_source: z.object({
      available: z.boolean(),
      path: z.string().nullable(),
      last_event_at: seconds,
      last_seen: z.partialRecord(z.enum(SIGNALS), z.number()),
      scanned_through: z.int().nullable(),
      error: z.string().optional(),
    }),
    probe_notice: z.string().optional(),
  }),
);

export const healthSchema = z.lazy(() =>
  z.object({
    enabled: z.boolean(),
    interval_sec: z.int(),
    supported_count: z.int(),
    monitored_count: z.int(),
    pressure_counts: z.record(z.string(), z.int()),
    services: z.array(serviceSchema),
  }),
);

export const healthQuery = z.object({
  process_name: z.string().optional(),
  refresh: queryBoolean().default(false),
});

type HealthAnswer = ResponseBody<typeof healthSchema>;
type ServiceAnswer = ResponseBody<typeof serviceSchema>;

export function overviewToWire({ settings, services }: Overview): HealthAnswer {
  const answers = services.map(serviceToWire);
  const monitored = answers.filter(service => service.monitoring_enabled);
  const counts = PRESSURES.map(name => [name, monitored.filter(({ pressure }) => pressure === name).length] as const);
  return {
    enabled: settings.enabled,
    interval_sec: settings.intervalS,
    supported_count: answers.length,
    monitored_count: monitored.length,
    pressure_counts: Object.fromEntries(counts.filter(([, count]) => count > 0)),
    services: answers,
  };
}

/** The answer as the history keeps it: without reasons, advice and paths. */
export function overviewToKept(answer: unknown): unknown {
  const { services, ...counts } = answer as HealthAnswer;
  const kept = services
    .filter(service => service.monitoring_enabled)
    .map(({ reasons: _, recommendation: _advice, log_source: _log, probe_notice: _notice, databases, ...rest }) => ({
      ...rest,
      databases: databases.map(database =>
        Object.fromEntries(Object.entries(database).filter(([key]) => KEPT.includes(key))),
      ),
    }));
  return { ...counts, services: kept };
}

function serviceToWire(health: ServiceHealth): ServiceAnswer {
  const { candidate, settings, isMonitored, reading } = health;
  const { service } = candidate;
  const state = stateOf(health);
  const isShown = isMonitored && !health.isStarting;
  const log = (isShown ? reading?.log : undefined) ?? NO_FINDINGS;
  const seen = Object.values(log.lastSeen);
  const notices = reading?.databases.flatMap(({ notice }) => (notice === undefined ? [] : [notice])) ?? [];
  return {
    id: candidate.id,
    config_key: service.configKey,
    instance_name: candidate.instanceName,
    process_name: service.processName,
    provider: candidate.provider,
    monitoring_enabled: isMonitored,
    mode: settings.mode,
    ignore_network_storage: settings.ignoresNetwork,
    ...state,
    collected_at: isShown ? (reading?.collectedAt ?? null) : null,
    databases: isShown ? (reading?.databases.map(databaseToWire) ?? []) : [],
    log_signals: log.counts,
    log_source: {
      available: log.position !== null && log.error === null,
      path: log.path,
      last_event_at: seen.length === 0 ? null : Math.max(...seen),
      last_seen: log.lastSeen,
      scanned_through: log.position?.through ?? null,
      ...(log.error === null ? {} : { error: log.error }),
    },
    ...(isShown && notices.length > 0 ? { probe_notice: notices[0] } : {}),
  };
}

function stateOf({ isMonitored, isStarting, reading }: ServiceHealth) {
  const unscored = (pressure: Pressure, recommendation: string) => ({
    pressure,
    score: 0,
    reasons: [],
    recommendation,
  });
  if (!isMonitored) return unscored('disabled', ADVICE.disabled);
  if (isStarting) return unscored('observing', ADVICE.starting);
  return reading?.assessment ?? unscored('collecting', ADVICE.collecting);
}

/** Converts the names of members from camel case to snake case. */
function databaseToWire(facts: DatabaseFacts): ServiceAnswer['databases'][number] {
  return withWireNames(facts) as ServiceAnswer['databases'][number];
}

function withWireNames(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [
      key.replaceAll(/[A-Z]/g, letter => `_${letter.toLowerCase()}`),
      withWireNames(member),
    ]),
  );
}
