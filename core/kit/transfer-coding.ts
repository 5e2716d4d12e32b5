// Codings of a transfer. The parser of Node takes `chunked` away and leaves what is compressed below it as it is.
import type { IncomingHttpHeaders } from 'node:http';

const TAKEN_AWAY = new Set(['chunked', 'identity', '']);

/** Whether a body with these headers is read as its sender meant it. */
export function isDecoded({ 'transfer-encoding': codings = '' }: IncomingHttpHeaders): boolean {
  return codings.split(',').every(coding => TAKEN_AWAY.has(coding.trim().toLowerCase()));
}
