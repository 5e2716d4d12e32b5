// The configuration of auto-restart: the section `dumb.auto_restart`, and the policy that results for one service.
import { z } from 'zod';
import type { RestartLimits } from './restart-policy.ts';

const MS_PER_S = 1_000;
const seconds = z.number().min(0);

const restartKeys = {
  restart_on_unhealthy: z.boolean(),
  healthcheck_interval: z.number(),
  unhealthy_threshold: z.number().int().min(1),
  max_restarts: z.number().int().min(0),
  window_seconds: z.number().min(1),
  backoff_seconds: z.array(seconds),
  grace_period_seconds: seconds,
};

export const autoRestartSection = z.looseObject({
  enabled: z.boolean().default(false),
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
        process_name: z.string(),
        enabled: z.boolean().optional(),
        ...z.object(restartKeys).partial().shape,
      }),
    )
    .default([]),
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

/** undefined when the service is not watched. */
export function policyOf(settings: AutoRestartSettings, processName: string): Policy | undefined {
  const service = settings.services.find(entry => entry.process_name === processName);
  if (!settings.enabled || service === undefined || service.enabled === false) return undefined;
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
