// The configuration of auto-restart: the section `dumb.auto_restart`, and the policy that results for one service.
import { z } from 'zod';
import type { RestartLimits } from './restart-policy.ts';

const MS_PER_S = 1_000;
const seconds = z.number().min(0);

const restartKeys = {
  restart_on_unhealthy: z.boolean().describe('restart a service that runs and stays unhealthy, too'),
  healthcheck_interval: z.number().describe('seconds between two looks at its health; 0: none'),
  unhealthy_threshold: z.number().int().min(1).describe('how often in a row it must be unhealthy'),
  max_restarts: z.number().int().min(0).describe('restarts within the window; then it is left alone'),
  window_seconds: z.number().min(1).describe('the window in which restarts count'),
  backoff_seconds: z.array(seconds).describe('pauses before the first restart, the second, and so on'),
  grace_period_seconds: seconds.describe('how long after its start its health does not count'),
};

export const autoRestartSection = z.looseObject({
  enabled: z.boolean().default(false).describe('whether services are restarted by themselves'),
  restart_on_unhealthy: restartKeys.restart_on_unhealthy.default(true),
  healthcheck_interval: restartKeys.healthcheck_interval.default(30),
  unhealthy_threshold: restartKeys.unhealthy_threshold.default(3),
  max_restarts: restartKeys.max_restarts.default(3),
  window_seconds: restartKeys.window_seconds.default(300),
  backoff_seconds: restartKeys.backoff_seconds.default([5, 15, 45, 120]),
  grace_period_seconds: restartKeys.grace_period_seconds.default(30),
  services: z
    .array(
      z.looseObject({
        process_name: z.string().describe('the service'),
        enabled: z.boolean().optional().describe('false: not this one'),
        ...z.object(restartKeys).partial().shape,
      }),
    )
    .default([])
    .describe('the services that are restarted, each with what differs for it'),
});

export type AutoRestartSettings = z.output<typeof autoRestartSection>;

const NO_SECTION = {};
let last: { readonly section: unknown; readonly settings: AutoRestartSettings } | undefined;

/** The current section. One that does not fit counts as absent, although `GET /config` still shows it. */
export function readSettings(config: { get(path: readonly string[]): unknown }): AutoRestartSettings {
  const section = config.get(['dumb', 'auto_restart']) ?? NO_SECTION;
  // Each change replaces the configuration as a whole, so the result for one object can be cached.
  if (section !== last?.section) {
    const parsed = autoRestartSection.safeParse(section);
    last = { section, settings: parsed.success ? parsed.data : autoRestartSection.parse({}) };
  }
  return last.settings;
}

/** The limits and intervals that apply to one service. */
export interface Policy extends RestartLimits {
  readonly onUnhealthy: boolean;
  readonly checkEveryMs: number;
  readonly threshold: number;
  readonly graceMs: number;
}

const policies = new WeakMap<AutoRestartSettings, ReadonlyMap<string, Policy>>();

/** By process name; what is not in it is not watched. Settings do not change, so that each has its policies once. */
export function policiesOf(settings: AutoRestartSettings): ReadonlyMap<string, Policy> {
  const known = policies.get(settings);
  if (known !== undefined) return known;
  const made = new Map<string, Policy>();
  // Of several entries for one service the first counts.
  for (const service of settings.enabled ? settings.services.toReversed() : []) {
    if (service.enabled === false) made.delete(service.process_name);
    else made.set(service.process_name, policyOf(settings, service));
  }
  policies.set(settings, made);
  return made;
}

function policyOf(settings: AutoRestartSettings, service: AutoRestartSettings['services'][number]): Policy {
  const merged: AutoRestartSettings = { ...settings, ...(service as Partial<AutoRestartSettings>) };
  return {
    onUnhealthy: merged.restart_on_unhealthy,
    checkEveryMs: merged.healthcheck_interval * MS_PER_S,
    threshold: merged.unhealthy_threshold,
    maxRestarts: merged.max_restarts,
    windowMs: merged.window_seconds * MS_PER_S,
    backoffMs: merged.backoff_seconds.map(delay => delay * MS_PER_S),
    graceMs: merged.grace_period_seconds * MS_PER_S,
  };
}
