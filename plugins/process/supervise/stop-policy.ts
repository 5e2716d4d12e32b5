// The signal and the grace period of a stop: from the block's own keys, otherwise from the policy of its kind.
import type { NamedBlock } from '#core';
import type { StopPolicy } from '../contract.ts';

/** The part of a stop policy that a record keeps. */
export type KnownStopPolicy = { readonly [Key in 'signal' | 'graceMs' | 'tier']?: StopPolicy[Key] | undefined };

const DEFAULT_GRACE_MS = 30_000;
const MS_PER_S = 1_000;

export function stopSignalOf({ block }: NamedBlock, policy: KnownStopPolicy | undefined): NodeJS.Signals {
  const { stop_signal: signal } = block;
  return typeof signal === 'string' ? (signal as NodeJS.Signals) : (policy?.signal ?? 'SIGTERM');
}

export function stopGraceMsOf({ block }: NamedBlock, policy: KnownStopPolicy | undefined): number {
  const { stop_grace_seconds: seconds } = block;
  return typeof seconds === 'number' ? seconds * MS_PER_S : (policy?.graceMs ?? DEFAULT_GRACE_MS);
}
