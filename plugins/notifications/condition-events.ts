// The events of the monitor, and how people are told of them.
import type { Events, Host } from '#core';
import type { ConditionEvent, NotificationEvent, Severity } from './contract.ts';

const RESOURCES = {
  'resource.cpu.high': 'The processors are busier than the threshold',
  'resource.memory.high': 'The memory is fuller than the threshold',
  'resource.disk.high': 'A monitored path is fuller than the threshold',
  'resource.inode.high': 'A monitored path has fewer inodes left than the threshold',
} as const satisfies Partial<Record<keyof Events, string>>;
const DATABASES = {
  'database.pressure': 'A database of a service is under pressure',
  'database.collection.failed': 'A database of a service cannot be read',
} as const satisfies Partial<Record<keyof Events, string>>;

export function registerConditionEvents(host: Host): void {
  const isMeasured = () => host.find('metrics.sampler') !== undefined;
  const isWatched = () => isMeasured() && host.contributions('metrics.collector').get('database_health') !== undefined;
  const register = (type: keyof Events, description: string, severity: Severity, isPossible: () => boolean) => {
    host.event(type, { description });
    host.contribute('notifications.event', type, {
      severity,
      isPossible,
      describe: describeCondition,
    } as NotificationEvent);
  };
  for (const [type, description] of Object.entries(RESOURCES))
    register(type as keyof typeof RESOURCES, description, 'warning', isMeasured);
  for (const [type, description] of Object.entries(DATABASES))
    register(type as keyof typeof DATABASES, description, 'warning', isWatched);
  register('recovery', 'A condition that people were told of is over', 'success', isMeasured);
}

function describeCondition(event: ConditionEvent & { readonly recoveredType?: string }) {
  const { title, body, value, conditionKey, serviceName, recoveredType, isCritical, isWorse } = event;
  return {
    title,
    body,
    conditionKey,
    metadata: { value },
    ignoresCooldown: isWorse,
    ...(isCritical ? { severity: 'critical' } : {}),
    ...(serviceName === undefined ? {} : { serviceName }),
    ...(recoveredType === undefined ? {} : { recoveredType }),
  };
}
