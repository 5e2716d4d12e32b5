// The beginning of a text without its secrets. Nothing is shown of a secret that the cut would divide.
import { redact } from './redact.ts';

/**
 * How many characters beyond the shown ones are looked at: a secret may be known by its end alone, as `://user:word@`.
 */
export const LOOKED_BEYOND = 4 * 1024;
/** The beginning of a mask that was cut. */
const CUT_MASK = /\[[A-Z]{0,9}$/;

/** `mark` is appended where the text is cut. Takes no longer for a longer text. */
export function redactedHead(text: string, limit: number, mark = ''): string {
  if (text.length <= limit) return redact(text);
  const looked = redact(text.slice(0, limit + LOOKED_BEYOND));
  // The end of what was looked at may be half a secret.
  const known = text.length <= limit + LOOKED_BEYOND ? looked.length : Math.max(0, looked.length - LOOKED_BEYOND);
  const end = Math.min(limit, known);
  if (end === looked.length) return looked;
  return looked.slice(0, end).replace(CUT_MASK, '') + mark;
}
