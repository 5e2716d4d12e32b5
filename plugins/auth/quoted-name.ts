// User names as the log quotes them.
import type { Identity } from '#core';

/** Anybody who reaches the login route can send a name, so control characters and excess length stay out of the log. */
export function quoteForLog(username: string): string {
  return `'${username.replaceAll(/\p{Cc}/gu, '?').slice(0, 64)}'`;
}

/** Who made a request; callers have no name while authentication is off. */
export function quoteActor({ username }: Identity): string {
  return quoteForLog(username ?? 'somebody');
}
