// Tells whether Node has decoded the transfer codings of a body. Node's parser decodes `chunked`, and leaves a
// compressed body as it is.
import type { IncomingHttpHeaders } from 'node:http';

const TAKEN_AWAY = new Set(['chunked', 'identity', '']);

/** Whether a body with these headers arrives without a coding. */
export function isDecoded({ 'transfer-encoding': codings = '' }: IncomingHttpHeaders): boolean {
  return codings.split(',').every(coding => TAKEN_AWAY.has(coding.trim().toLowerCase()));
}
