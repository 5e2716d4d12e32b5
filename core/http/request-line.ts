// Brings a request into the form that all later code relies on: a path, and exactly one host.
import type { IncomingMessage } from 'node:http';

const ABSOLUTE = /^https?:\/\/([^/?#]*)(.*)$/i;

/** Returns one sentence if the request must be refused. The host of an absolute URL replaces the header (RFC 9112). */
export function straighten(request: IncomingMessage): string | undefined {
  if (countHosts(request.rawHeaders) > 1) return 'The request has more than one Host header; send one';
  if (request.headers.host === undefined && request.httpVersion === '1.1') {
    return 'The request has no Host header; send one';
  }
  const [, host, rest = ''] = ABSOLUTE.exec(request.url ?? '') ?? [];
  if (host === undefined) return undefined;
  if (host === '' || host.includes('@')) return 'The address of the request names no host';
  request.headers.host = host;
  request.url = rest.startsWith('/') ? rest : `/${rest}`;
  return undefined;
}

/** The number of Host headers in the raw headers; `request.headers` holds only the first. */
function countHosts(rawHeaders: readonly string[]): number {
  let count = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index];
    if (name?.length === 4 && name.toLowerCase() === 'host') count += 1;
  }
  return count;
}
