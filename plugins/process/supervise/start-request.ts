// A start or restart as it was asked for.
import type { Host } from '#core';
import type { StartTrigger, WantedState } from '../contract.ts';
import { cancelled } from './start-failure.ts';
import type { WantedStates } from './wanted-states.ts';

export interface StartRequest {
  readonly what: 'Start' | 'Restart';
  readonly trigger: StartTrigger;
  readonly by: string;
}

/** Whether somebody asked for it, and not a plugin that acts by itself. */
export function isByHand({ trigger }: StartRequest): boolean {
  return trigger === 'request' || trigger === 'restart';
}

/** Throws a Problem 409 when a stop was requested since the wanted state of the process was `before`. */
export function refuseStopped(
  { what }: StartRequest,
  processName: string,
  before: WantedState | null,
  { host, wanted }: { readonly host: Host; readonly wanted: WantedStates },
): void {
  if (wanted.of(processName) !== before && wanted.isStopped(processName))
    throw cancelled(what, processName, { host, hasEntry: true, cause: undefined });
}
