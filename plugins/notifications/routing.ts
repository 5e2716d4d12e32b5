// Which destinations get a message about an event.
import type { Severity } from './contract.ts';
import type { DestinationSettings } from './settings.ts';
import { isAtLeast } from './severity.ts';

/** The type of the end of a condition, for which the minimum severity of a destination does not count. */
const RECOVERY = 'recovery';

export interface RoutedEvent {
  readonly eventType: string;
  readonly severity: Severity;
  readonly serviceName: string | null;
  readonly recoveredType: string | undefined;
}

export function isWanted(destination: DestinationSettings, event: RoutedEvent): boolean {
  const { eventType, severity, serviceName, recoveredType } = event;
  const isRecovery = eventType === RECOVERY;
  if (!destination.enabled || destination.url === '') return false;
  if (!isRecovery && !isAtLeast(severity, destination.minimum_severity)) return false;
  const { event_types: types, service_names: services } = destination;
  const isType = types.includes(eventType) || (recoveredType !== undefined && types.includes(recoveredType));
  if (types.length > 0 && !isType) return false;
  if (services.length > 0 && !services.some(name => name.toLowerCase() === serviceName?.toLowerCase())) return false;
  return !isRecovery || destination.send_recovery;
}
