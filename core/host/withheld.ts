// Recognizes effects that a dry run withholds; a withheld effect is not a fault of the plugin that asked for it.
import { Problem } from '../contract/problem.ts';
import { causesOf } from '../kit/causes.ts';

/** Codes of Node's permission model, and the one that `withheld` uses. */
const CODES: ReadonlySet<unknown> = new Set(['ERR_ACCESS_DENIED', 'ERR_DLOPEN_DISABLED']);

export function withheld(what: string): Error {
  return Object.assign(new Error(`${what} is withheld: nothing is changed here`), { code: 'ERR_ACCESS_DENIED' });
}

/** Thrown when no plugin provides a service. In a dry run the reason may be a withheld effect, which ended a set-up. */
export class NoService extends Problem {
  constructor(name: string) {
    super(503, `The part that provides ${name} is not available`);
  }
}

/** True when the error or one of its causes is a withheld effect. */
export function isWithheld(error: unknown): boolean {
  return [...causesOf(error)].some(cause => CODES.has((cause as NodeJS.ErrnoException).code));
}

export function isNoService(error: unknown): boolean {
  return [...causesOf(error)].some(cause => cause instanceof NoService);
}
