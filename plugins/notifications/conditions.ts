// What a sample of metrics says about the thresholds: which conditions are true now.
import { isObject } from '#kit/plain-object';
import type { FileSystemUsage, Sample } from '../metrics/contract.ts';
import type { NotificationSettings } from './settings.ts';

type Thresholds = NotificationSettings['thresholds'];

export type ConditionType =
  | 'resource.cpu.high'
  | 'resource.memory.high'
  | 'resource.disk.high'
  | 'resource.inode.high'
  | 'database.pressure'
  | 'database.collection.failed';

/** One condition at one moment. */
export interface Observation {
  readonly key: string;
  readonly type: ConditionType;
  /** null where nothing can be told at present, so that what was known stays. */
  readonly isTrue: boolean | null;
  readonly title: string;
  readonly body: string;
  /** The title when it is over. */
  readonly overTitle: string;
  readonly value: number | string | null;
  readonly serviceName?: string;
  readonly isCritical: boolean;
}

const RANKS: Readonly<Record<string, number>> = { moderate: 1, high: 2, critical: 3 };
/** A service of which nothing has been read yet. */
const UNREAD = 'collecting';

export function observe(sample: Sample, thresholds: Thresholds): Observation[] {
  const { cpuPercent, memory, fileSystems } = sample.system;
  return [
    ofPercent('resource.cpu.high', 'resource:cpu', 'CPU usage', cpuPercent, thresholds.cpu_percent),
    ofPercent('resource.memory.high', 'resource:memory', 'Memory usage', memory.percent, thresholds.memory_percent),
    ...fileSystems.flatMap(fileSystem => ofFileSystem(fileSystem, thresholds)),
    ...ofDatabases(sample, thresholds),
  ];
}

/** Whether the sample tells of databases at all; where it does not, nothing is known of any of them. */
export function tellsDatabases(sample: Sample): boolean {
  return isObject(sample.collected.sample.database_health);
}

function ofFileSystem({ path, space, inodes }: FileSystemUsage, thresholds: Thresholds): Observation[] {
  return [
    ofPercent(
      'resource.disk.high',
      `resource:disk:${path}`,
      `Disk usage of ${path}`,
      space.percent,
      thresholds.disk_percent,
    ),
    ofPercent(
      'resource.inode.high',
      `resource:inode:${path}`,
      `Inode usage of ${path}`,
      inodes.percent,
      thresholds.inode_percent,
    ),
  ];
}

function ofPercent(
  type: ConditionType,
  key: string,
  what: string,
  percent: number | null,
  threshold: number,
): Observation {
  const shown = percent === null ? 'unknown' : `${percent.toFixed(1)} %`;
  return {
    key,
    type,
    isTrue: percent === null ? null : percent >= threshold,
    title: `${what} is high`,
    body: `${what} is ${shown}, the threshold is ${threshold.toFixed(1)} %.`,
    overTitle: `${what} is normal again`,
    value: percent,
    isCritical: false,
  };
}

function ofDatabases({ collected }: Sample, thresholds: Thresholds): Observation[] {
  const health = collected.sample.database_health;
  const services = isObject(health) && Array.isArray(health.services) ? health.services : [];
  return services.filter(isObject).flatMap(service => {
    const { process_name: name, monitoring_enabled: isMonitored, pressure, reasons, databases } = service;
    if (isMonitored !== true || typeof name !== 'string' || typeof pressure !== 'string') return [];
    const isRead = pressure !== UNREAD;
    const failures = (Array.isArray(databases) ? databases : [])
      .filter(isObject)
      .flatMap(({ probe_error: error }) => (typeof error === 'string' ? [error] : []));
    const why = Array.isArray(reasons) ? reasons.filter(reason => typeof reason === 'string').join(' ') : '';
    const threshold = thresholds.database_pressure;
    return [
      {
        key: `database:${name}`,
        type: 'database.pressure',
        isTrue: isRead ? rankOf(pressure) >= rankOf(threshold) : null,
        title: `Database pressure of ${name} is ${pressure}`,
        body: `The pressure is ${pressure}, the threshold is ${threshold}. ${why}`.trim(),
        overTitle: `Database pressure of ${name} is normal again`,
        value: pressure,
        serviceName: name,
        isCritical: pressure === 'critical',
      },
      {
        key: `database:${name}:collection`,
        type: 'database.collection.failed',
        isTrue: isRead ? failures.length > 0 : null,
        title: `A database of ${name} cannot be read`,
        body: failures.join('\n'),
        overTitle: `The databases of ${name} can be read again`,
        value: null,
        serviceName: name,
        isCritical: false,
      },
    ];
  });
}

function rankOf(pressure: string): number {
  return Object.hasOwn(RANKS, pressure) ? (RANKS[pressure] ?? 0) : 0;
}
