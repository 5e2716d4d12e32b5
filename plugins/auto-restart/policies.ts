// Which policy a service is restarted by: that of its entry in `dumb.auto_restart`, else that of its block's `restart`.
import type { ConfigStore } from '#core';
import type { RestartLimits } from './restart-policy.ts';
import type { AutoRestartSettings, RestartKey } from './settings.ts';

const MS_PER_S = 1_000;

/** The limits and intervals that apply to one service. */
export interface Policy extends RestartLimits {
  /** Whether an end with exit code 0 is left alone. */
  readonly onlyFailures: boolean;
  readonly onUnhealthy: boolean;
  readonly checkEveryMs: number;
  readonly threshold: number;
  readonly graceMs: number;
}

/** Policies by process name; a process without one is not restarted. */
export type Policies = ReadonlyMap<string, Policy>;

type Blocks = Pick<ConfigStore, 'blocks' | 'findBlock'>;

let last: { readonly settings: object; readonly blocks: object; readonly policies: Policies } | undefined;

/** Each change replaces settings and blocks as a whole, so the result for the latest ones is kept. */
export function policiesOf(settings: AutoRestartSettings, store: Blocks): Policies {
  const blocks = store.blocks();
  if (last?.settings !== settings || last.blocks !== blocks)
    last = { settings, blocks, policies: made(settings, store) };
  return last.policies;
}

/** The policy for a service that has none, while a plugin asks for a restart of it. */
export function limitsOf(settings: AutoRestartSettings): Policy {
  return { ...policyOf(settings), onUnhealthy: false };
}

function made(settings: AutoRestartSettings, store: Blocks): Policies {
  const policies = new Map<string, Policy>();
  for (const { processName, block } of store.blocks()) {
    const key = block.restart as RestartKey | undefined;
    const { policy, ...limits } = typeof key === 'object' ? key : { policy: key };
    if (policy === undefined || policy === 'no') continue;
    const onlyFailures = policy === 'on-failure';
    policies.set(processName, {
      ...policyOf({ ...settings, ...(limits as object) }),
      onlyFailures,
      onUnhealthy: false,
    });
  }
  // Of several entries for one service the first counts.
  for (const service of settings.enabled ? settings.services.toReversed() : []) {
    const name = store.findBlock(service.process_name)?.processName ?? service.process_name;
    if (service.enabled === false) policies.delete(name);
    else policies.set(name, policyOf({ ...settings, ...(service as Partial<AutoRestartSettings>) }));
  }
  return policies;
}

function policyOf(merged: AutoRestartSettings): Policy {
  return {
    onlyFailures: false,
    onUnhealthy: merged.restart_on_unhealthy,
    checkEveryMs: merged.healthcheck_interval * MS_PER_S,
    threshold: merged.unhealthy_threshold,
    maxRestarts: merged.max_restarts,
    windowMs: merged.window_seconds * MS_PER_S,
    backoffMs: merged.backoff_seconds.map(delay => delay * MS_PER_S),
    graceMs: merged.grace_period_seconds * MS_PER_S,
  };
}
