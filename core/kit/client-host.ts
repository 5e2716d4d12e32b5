// The host by which clients on this machine reach a program that listens at an address.

const LOOPBACK = '127.0.0.1';
/** The names of all addresses of the machine. */
const EVERYWHERE = new Set(['*', '0.0.0.0', '::']);

/** `host` is the setting at which a program listens: an address or a name, or several with commas between them. */
export function clientHost(host: unknown): string {
  const names = String(host ?? '')
    .split(',')
    .map(name => name.trim().replace(/^\[(.*)\]$/, '$1'))
    .filter(name => name !== '');
  const [first = LOOPBACK] = names;
  return names.some(name => EVERYWHERE.has(name)) ? LOOPBACK : first;
}

/** An address or a name as URLs have it. */
export function urlHost(host: string): string {
  return host.includes(':') && !host.startsWith('[') ? `[${host}]` : host;
}
