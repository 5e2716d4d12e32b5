// The conditions of the machine: which values of the newest sample have crossed their thresholds.
import type { Events, Host } from '#core';
import type { FileSystemUsage, Sample } from '../metrics/contract.ts';
import type { Condition, ConditionEvent, NotificationEvent, Thresholds } from './contract.ts';

const DESCRIPTIONS = {
  'resource.cpu.high': 'The processors are busier than the threshold',
  'resource.memory.high': 'The memory is fuller than the threshold',
  'resource.disk.high': 'A monitored path is fuller than the threshold',
  'resource.inode.high': 'A monitored path has fewer inodes left than the threshold',
} as const satisfies Partial<Record<keyof Events, string>>;
const ORDER = 1_000;

type ResourceEvent = keyof typeof DESCRIPTIONS;

export function contributeResourceConditions(host: Host): void {
  const sampler = () => host.find('metrics.sampler');
  const isPossible = () => sampler() !== undefined;
  for (const [type, description] of Object.entries(DESCRIPTIONS)) {
    host.event(type as ResourceEvent, { description });
    host.contribute('notifications.event', type, {
      severity: 'warning',
      order: ORDER,
      isPossible,
      describe: event => event,
    } as NotificationEvent<ConditionEvent> as NotificationEvent);
  }
  let isToldOfLack = false;
  host.contribute('notifications.condition', 'resource', {
    isPossible,
    async observe(thresholds) {
      const sample = await sampler()?.sample();
      if (sample !== undefined) return observe(sample, thresholds);
      if (!isToldOfLack) host.log.info('thresholds of the machine are not watched: the plugin metrics is not loaded');
      isToldOfLack = true;
      return null;
    },
    tell: (type, event) => host.emit(type as ResourceEvent, event),
  });
}

function observe({ system }: Sample, thresholds: Thresholds): Condition[] {
  const { cpuPercent, memory, fileSystems } = system;
  return [
    ofPercent('resource.cpu.high', 'cpu', 'CPU usage', cpuPercent, thresholds.cpu_percent),
    ofPercent('resource.memory.high', 'memory', 'Memory usage', memory.percent, thresholds.memory_percent),
    ...fileSystems.flatMap(fileSystem => ofFileSystem(fileSystem, thresholds)),
  ];
}

function ofFileSystem({ path, space, inodes }: FileSystemUsage, thresholds: Thresholds): Condition[] {
  const { disk_percent: disk, inode_percent: inode } = thresholds;
  return [
    ofPercent('resource.disk.high', `disk:${path}`, `Disk usage of ${path}`, space.percent, disk),
    ofPercent('resource.inode.high', `inode:${path}`, `Inode usage of ${path}`, inodes.percent, inode),
  ];
}

function ofPercent(
  type: ResourceEvent,
  key: string,
  what: string,
  percent: number | null,
  threshold: number,
): Condition {
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
