// The configuration of auto-restart: the section `dumb.auto_restart`, and the key `restart` of a service's block.
import { z } from 'zod';

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

const restartWord = z.enum(['always', 'on-failure', 'no']);

const { max_restarts, window_seconds, backoff_seconds } = restartKeys;
const restartKey = z.union([
  restartWord,
  z.looseObject({
    policy: restartWord.describe('when it is restarted'),
    ...z.object({ max_restarts, window_seconds, backoff_seconds }).partial().shape,
  }),
]);

export type RestartKey = z.output<typeof restartKey>;

/** Without defaults, because an editor in a browser would write them into the block. */
export const restartBlock = z.looseObject({
  restart: restartKey
    .optional()
    .meta({ live: true, fallback: true })
    .describe(
      'whether it is restarted when it ends by itself: always, on-failure (not after exit code 0) or no; pauses and limit ' +
        'are those of dumb.auto_restart, or its own; an entry in the list there wins',
    ),
});

export type AutoRestartSettings = z.output<typeof autoRestartSection>;

const NO_SECTION = {};
let last: { readonly section: unknown; readonly settings: AutoRestartSettings } | undefined;

/**
 * The current settings. A section that does not fit its schema counts as absent, although `GET /config` still shows it.
 */
export function readSettings(config: { get(path: readonly string[]): unknown }): AutoRestartSettings {
  const section = config.get(['dumb', 'auto_restart']) ?? NO_SECTION;
  // Each change replaces the configuration as a whole, so the result for one object can be cached.
  if (section !== last?.section) {
    const parsed = autoRestartSection.safeParse(section);
    last = { section, settings: parsed.success ? parsed.data : autoRestartSection.parse({}) };
  }
  return last.settings;
}
