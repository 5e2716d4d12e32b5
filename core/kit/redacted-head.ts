// The beginning of a text without its secrets. Of a secret that lies over the cut, nothing is shown.
import { redact } from './redact.ts';

/** So much more than is shown is looked at, because a secret may be known by its end alone, such as `://user:word@`. */
export const LOOKED_BEYOND = 4 * 1024;
/** The beginning of what stands for a secret. */
const CUT_MASK = /\[[A-Z]{0,9}$/;

/** `mark` follows what is not the whole text. Takes no longer for a longer text. */
export function redactedHead(text: string, limit: number, mark = ''): string {
  if (text.length <= limit) return redact(text);
  const looked = redact(text.slice(0, limit + LOOKED_BEYOND));
  // At the end of what was looked at may be half a secret.
  const known = text.length <= limit + LOOKED_BEYOND ? looked.length : Math.max(0, looked.length - LOOKED_BEYOND);
  const end = Math.min(limit, known);
  if (end === looked.length) return looked;
  return looked.slice(0, end).replace(CUT_MASK, '') + mark;
}
