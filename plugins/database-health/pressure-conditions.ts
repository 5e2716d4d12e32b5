// The conditions of databases: which services' databases suffer, or cannot be read.
import type { Events, Host } from '#core';
import type { Condition, ConditionEvent, NotificationEvent, Thresholds } from '../notifications/contract.ts';
import type { Health, Overview, ServiceHealth } from './health.ts';

const DESCRIPTIONS = {
  'database.pressure': 'A database of a service is under pressure',
  'database.collection.failed': 'A database of a service cannot be read',
} as const satisfies Partial<Record<keyof Events, string>>;
const ORDER = 1_100;

const RANKS: Readonly<Record<string, number>> = { moderate: 1, high: 2, critical: 3 };

const UNREAD = { pressure: 'collecting', reasons: [] };
const STARTING = { assessment: { pressure: 'observing', reasons: [] }, databases: [] };

type DatabaseEvent = keyof typeof DESCRIPTIONS;

export function contributeConditions(host: Host, health: Health): void {
  for (const [type, description] of Object.entries(DESCRIPTIONS)) {
    host.event(type as DatabaseEvent, { description });
    host.contribute('notifications.event', type, {
      severity: 'warning',
      order: ORDER,
      describe: event => event,
    } as NotificationEvent<ConditionEvent> as NotificationEvent);
  }
  host.contribute('notifications.condition', 'database', {
    observe: async thresholds => observe(await health.sample(), thresholds),
    tell: (type, event) => host.emit(type as DatabaseEvent, event),
  });
}

function observe({ services }: Overview, thresholds: Thresholds): Condition<DatabaseEvent>[] {
  return services.filter(({ isMonitored }) => isMonitored).flatMap(service => conditionsOf(service, thresholds));
}

function conditionsOf(health: ServiceHealth, { database_pressure: threshold }: Thresholds): Condition<DatabaseEvent>[] {
  const { candidate, isStarting, reading } = health;
  const { processName: serviceName } = candidate.service;
  // A service that is starting is never under pressure.
  const shown = isStarting ? STARTING : reading;
  const { pressure, reasons } = shown?.assessment ?? UNREAD;
  const failures = shown?.databases.flatMap(({ probeError }) => (probeError === undefined ? [] : [probeError])) ?? [];
  return [
    {
      key: serviceName,
      type: 'database.pressure',
      isTrue: shown === undefined ? null : rankOf(pressure) >= rankOf(threshold),
      title: `Database pressure of ${serviceName} is ${pressure}`,
      body: `The pressure is ${pressure}, the threshold is ${threshold}. ${reasons.join(' ')}`.trim(),
      overTitle: `Database pressure of ${serviceName} is normal again`,
      value: pressure,
      serviceName,
      isCritical: pressure === 'critical',
    },
    {
      key: `${serviceName}:collection`,
      type: 'database.collection.failed',
      isTrue: shown === undefined ? null : failures.length > 0,
      title: `A database of ${serviceName} cannot be read`,
      body: failures.length === 0 ? 'Every look at them has succeeded.' : failures.join('\n'),
      overTitle: `The databases of ${serviceName} can be read again`,
      value: null,
      serviceName,
      isCritical: false,
    },
  ];
}

function rankOf(pressure: string): number {
  return Object.hasOwn(RANKS, pressure) ? (RANKS[pressure] ?? 0) : 0;
}
