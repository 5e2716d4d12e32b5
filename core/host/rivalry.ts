// A fault of a plugin of which others are a part, so that they may end it by what they do.
import type { PluginState } from '../contract/host.ts';
import { causesOf } from '../kit/causes.ts';
import { NameTaken } from '../kit/name-taken.ts';
import type { Scope } from './scope.ts';

interface Rival {
  readonly state: PluginState | 'pending';
  readonly scope: Scope | undefined;
}

type RivalOf = (name: string) => Rival | undefined;

/** A need that leads back, or a name that another set-up of a plugin has. */
export type Rivalry = 'cycle' | { readonly by: string; readonly scope: Scope | undefined };

/** Undefined where nobody else has a part in the error. */
export function rivalryOf(error: unknown, rivalOf: RivalOf): Rivalry | undefined {
  const taken = [...causesOf(error)].find(cause => cause instanceof NameTaken);
  return taken && { by: taken.by, scope: rivalOf(taken.by)?.scope };
}

/**
 * Whether the name is to be had again: its owner is gone, switched off, or set up anew since. One that has failed, or
 * waits for others, may come back, and keeps its names until then.
 */
export function isOver(rivalry: Rivalry | undefined, rivalOf: RivalOf): boolean {
  if (rivalry === undefined || rivalry === 'cycle') return false;
  const rival = rivalOf(rivalry.by);
  if (rival === undefined) return rivalry.scope !== undefined;
  return rival.state === 'disabled' || (rival.state === 'ready' && rival.scope !== rivalry.scope);
}
