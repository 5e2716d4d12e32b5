// A failure of a plugin that other plugins have a part in, so that it may end when they change.
import type { PluginState } from '../contract/host.ts';
import { causesOf } from '../kit/causes.ts';
import { NameTaken } from '../kit/name-taken.ts';
import type { Scope } from './scope.ts';

interface Rival {
  readonly state: PluginState | 'pending';
  readonly scope: Scope | undefined;
}

type RivalOf = (name: string) => Rival | undefined;

/** A cycle of needs, or a name that the plugin `by` has taken in the set-up with this scope. */
export type Rivalry = 'cycle' | { readonly by: string; readonly scope: Scope | undefined };

/** The taken name that caused the error; undefined when it has another cause. */
export function rivalryOf(error: unknown, rivalOf: RivalOf): Rivalry | undefined {
  const taken = [...causesOf(error)].find(cause => cause instanceof NameTaken);
  return taken && { by: taken.by, scope: rivalOf(taken.by)?.scope };
}

/**
 * Whether the name is free again: its owner is gone, disabled, or was set up again since. An owner that has failed, or
 * waits for others, may come back, and keeps its names until then.
 */
export function isOver(rivalry: Rivalry | undefined, rivalOf: RivalOf): boolean {
  if (rivalry === undefined || rivalry === 'cycle') return false;
  const rival = rivalOf(rivalry.by);
  if (rival === undefined) return rivalry.scope !== undefined;
  return rival.state === 'disabled' || (rival.state === 'ready' && rival.scope !== rivalry.scope);
}
