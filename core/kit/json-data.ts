// What answers, files and threads can carry: plain data without anything that JSON has no form for, such as a circle.
import { z } from 'zod';
import { MAX_NESTING } from './nesting-limit.ts';

/** More than anybody gives, and few enough to be looked at: an object that is in many places counts in each. */
const MAX_VALUES = 1_000_000;
const MISFIT = 'it must hold nothing but what JSON can';

/** Any value, or none. */
export const jsonData = z.unknown().refine(isJsonData, MISFIT);

export const jsonObject = z.record(z.string(), z.unknown()).refine(isJsonData, MISFIT);

/** A member may be undefined, as one that is not there. What throws when it is looked at is none. */
export function isJsonData(value: unknown): boolean {
  let values = 0;
  const isData = (inner: unknown, depth: number): boolean => {
    values += 1;
    if (depth > MAX_NESTING || values > MAX_VALUES) return false;
    if (typeof inner === 'number') return Number.isFinite(inner);
    if (typeof inner !== 'object') return ['string', 'boolean', 'undefined'].includes(typeof inner);
    if (inner === null) return true;
    const prototype: unknown = Object.getPrototypeOf(inner);
    const isPlain = Array.isArray(inner) || prototype === Object.prototype || prototype === null;
    return isPlain && Object.values(inner).every(member => isData(member, depth + 1));
  };
  try {
    return isData(value, 0);
  } catch {
    return false;
  }
}
