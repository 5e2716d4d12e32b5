// The services of the running host as commands see them, and which of them are meant by names and patterns.
import type { HostClient } from '#core';
import { hostAnswer } from '#kit/host-answer';
import { namesThatFit } from '#kit/name-pattern';

export interface Service {
  readonly process_name: string;
  readonly enabled: boolean;
  readonly status: string;
  readonly pid: number | null;
  /** Unix seconds. */
  readonly started_at: number | null;
  readonly health_status: string | null;
  readonly health_reason: string | null;
  readonly restart: {
    readonly restart_attempts: number;
    readonly last_failure_reason: string | null;
    readonly last_exit_reason: string | null;
    readonly exit_code: number | null;
  };
}

interface Statuses {
  readonly processes: readonly Service[];
}

const EXAMPLE = { process_name: '', enabled: true, status: '', restart: { restart_attempts: 0 } };

/** All services, in the order of the configuration. */
export async function readServices(host: HostClient): Promise<readonly Service[]> {
  const answer = await host.get('/process/service-statuses');
  return hostAnswer<Statuses>(answer, { processes: [EXAMPLE] }).processes;
}

/** Names for a shell to complete. */
export async function serviceNames(host: HostClient): Promise<readonly string[]> {
  return (await readServices(host)).map(({ process_name: name }) => name);
}

/** Whether the service is enabled or runs. The others are disabled, or known by their templates only. */
export function isInUse({ enabled, status }: Service): boolean {
  return enabled || status !== 'stopped';
}

/**
 * Whole names mean any service, patterns those of `inUse`. Throws an Error that names the first one that fits no
 * service.
 */
export function chosenServices(
  services: readonly Service[],
  patterns: readonly string[],
  inUse: readonly Service[] = services.filter(isInUse),
): readonly Service[] {
  const namesOf = (some: readonly Service[]) => some.map(({ process_name: name }) => name);
  const names = namesThatFit(namesOf(services), patterns, namesOf(inUse));
  return services.filter(({ process_name: name }) => names.includes(name));
}
