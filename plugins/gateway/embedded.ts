// Web interfaces of services behind this address: `/ui/<name>/` and `/service/ui/<name>/` go to the service's port.
import { type IncomingMessage, request as openRequest, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Pool } from 'undici';
import type { ServiceUi } from '../service-ui/contract.ts';
import { refuse, refuseUpgrade } from './refusal.ts';

const PREFIX = /^(\/(?:service\/)?ui\/([^/?#]+))(?=[/?#]|$)/;
const COOKIE = 'dumb_ui_service';
const ANSWER_LIMIT_MS = 15 * 60_000;
const IDLE_LIMIT_MS = 2 * 60_000;
/** Of one connection only. */
const HOP_BY_HOP = new Set([
  'connection',
  'expect',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);
/** Replaced: the frontend shows the interface in a frame of the same origin. */
const FRAME_HEADERS = new Set(['x-frame-options']);

/** Where a request goes: the service, the path it sees, and the prefix under which the browser knows it. */
interface Destination {
  readonly ui: ServiceUi;
  readonly path: string;
  readonly prefix: string;
}

export class EmbeddedUis {
  readonly #list: () => readonly ServiceUi[];
  readonly #pools = new Map<string, Pool>();
  readonly #upgraded = new Set<Duplex>();

  /** `list` gives the interfaces that are served here now. */
  constructor(list: () => readonly ServiceUi[]) {
    this.#list = list;
  }

  /** true: the request was for an interface and is answered. */
  request(request: IncomingMessage, response: ServerResponse): boolean {
    const url = request.url ?? '/';
    const [, prefix, name] = PREFIX.exec(url) ?? [];
    const target = this.#destination(request);
    if (target === undefined) {
      if (name === undefined) return false;
      refuse(response, 404, `There is no web interface named ${decode(name)} here`);
      return true;
    }
    // Relative names of a page resolve against its folder.
    if (prefix !== undefined && url.slice(prefix.length).replace(/[?#].*$/s, '') === '') {
      response.writeHead(307, { Location: `${prefix}/${url.slice(prefix.length)}` }).end();
      return true;
    }
    void this.#forward(target, request, response);
    return true;
  }

  /** true: the upgrade was for an interface. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): boolean {
    const target = this.#destination(request);
    if (target === undefined) return false;
    this.#forwardUpgrade(target, request, socket, head);
    return true;
  }

  async close(): Promise<void> {
    for (const socket of this.#upgraded) socket.destroy();
    await Promise.all([...this.#pools.values()].map(pool => pool.destroy()));
  }

  /** By path; for names that a page gives from the root, by the page that asks, or by the interface opened last. */
  #destination({ url = '/', headers, method }: IncomingMessage): Destination | undefined {
    const [, prefix, name] = PREFIX.exec(url) ?? [];
    if (prefix !== undefined && name !== undefined) {
      const ui = this.#find(name);
      if (ui === undefined) return undefined;
      const rest = url.slice(prefix.length);
      const isRoot = rest === '' || rest === '/';
      return { ui, path: isRoot && ui.entryPath !== '' ? ui.entryPath : rest, prefix: `/ui/${ui.name}` };
    }
    const opened = this.#openedBy(headers, method === 'GET' && headers.upgrade !== undefined);
    return opened === undefined ? undefined : { ui: opened, path: url, prefix: `/ui/${opened.name}` };
  }

  #openedBy(headers: IncomingMessage['headers'], isUpgrade: boolean): ServiceUi | undefined {
    const { referer, host, cookie } = headers;
    if (referer !== undefined && URL.canParse(referer)) {
      const page = new URL(referer);
      const [, , name] = (page.host === host ? PREFIX.exec(page.pathname) : null) ?? [];
      if (name !== undefined) return this.#find(name);
    }
    // A WebSocket tells no page.
    const [, last] = isUpgrade ? (new RegExp(`(?:^|;\\s*)${COOKIE}=([^;]*)`).exec(cookie ?? '') ?? []) : [];
    return last === undefined ? undefined : this.#find(last);
  }

  #find(name: string): ServiceUi | undefined {
    return this.#list().find(ui => ui.name === decode(name).toLowerCase());
  }

  async #forward(target: Destination, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { ui, path, prefix } = target;
    const gone = new AbortController();
    response.once('close', () => gone.abort());
    const hasBody = 'content-length' in request.headers || 'transfer-encoding' in request.headers;
    try {
      const pool = await this.#pool(ui);
      await pool.stream(
        {
          method: request.method as 'GET',
          path: path.startsWith('/') ? path : `/${path}`,
          headers: forwarded(request, prefix),
          body: hasBody ? request : null,
          signal: gone.signal,
        },
        ({ statusCode, headers }) => {
          response.writeHead(statusCode, answered(headers, target));
          return response;
        },
      );
    } catch (error) {
      if (response.headersSent || gone.signal.aborted) response.destroy();
      else {
        const slow = (error as Error).name === 'HeadersTimeoutError';
        refuse(response, slow ? 504 : 502, `${ui.processName} does not answer on port ${ui.port}`);
      }
    }
  }

  #forwardUpgrade({ ui, path, prefix }: Destination, request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const headers = { ...forwarded(request, prefix), connection: 'Upgrade', upgrade: request.headers.upgrade };
    const outgoing = openRequest({
      host: ui.host,
      port: ui.port,
      path: path.startsWith('/') ? path : `/${path}`,
      headers,
    });
    this.#upgraded.add(socket);
    socket.on('error', () => socket.destroy());
    socket.once('close', () => {
      this.#upgraded.delete(socket);
      outgoing.destroy();
    });
    outgoing.on('error', () => refuseUpgrade(socket, 502, `${ui.processName} does not answer on port ${ui.port}`));
    outgoing.on('response', answer => {
      answer.resume();
      refuseUpgrade(socket, answer.statusCode ?? 502, `${ui.processName} does not take this connection`);
    });
    outgoing.on('upgrade', (answer, upstream, first) => {
      const lines = [`HTTP/1.1 101 ${answer.statusMessage}`];
      for (let at = 0; at < answer.rawHeaders.length; at += 2) {
        lines.push(`${answer.rawHeaders[at]}: ${answer.rawHeaders[at + 1]}`);
      }
      socket.write(`${lines.join('\r\n')}\r\n\r\n`);
      if (first.length > 0) socket.write(first);
      if (head.length > 0) upstream.write(head);
      upstream.on('error', () => socket.destroy());
      socket.on('close', () => upstream.destroy());
      upstream.on('close', () => socket.destroy());
      socket.pipe(upstream).pipe(socket);
    });
    outgoing.end();
  }

  async #pool({ host, port }: ServiceUi): Promise<Pool> {
    const { Pool } = await import('undici');
    const origin = `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
    const known =
      this.#pools.get(origin) ??
      new Pool(origin, { headersTimeout: ANSWER_LIMIT_MS, bodyTimeout: 0, keepAliveTimeout: IDLE_LIMIT_MS });
    this.#pools.set(origin, known);
    return known;
  }
}

function forwarded(request: IncomingMessage, prefix: string): Record<string, string | string[]> {
  const headers: Record<string, string | string[]> = {};
  const named = new Set(
    String(request.headers.connection ?? '')
      .toLowerCase()
      .split(/\s*,\s*/),
  );
  for (const [name, value] of Object.entries(request.headers)) {
    if (value !== undefined && !HOP_BY_HOP.has(name) && !named.has(name)) headers[name] = value;
  }
  const before = request.headers['x-forwarded-for'];
  headers['x-forwarded-for'] = [before, request.socket.remoteAddress].filter(Boolean).join(', ');
  headers['x-forwarded-proto'] = 'http';
  headers['x-forwarded-host'] = request.headers.host ?? '';
  headers['x-forwarded-prefix'] = prefix;
  return headers;
}

function answered(
  headers: Record<string, string | string[] | undefined>,
  { ui, prefix }: Destination,
): Record<string, string | string[]> {
  const result: Record<string, string | string[]> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined && !HOP_BY_HOP.has(name) && !FRAME_HEADERS.has(name)) result[name] = value;
  }
  if (typeof result.location === 'string') result.location = relocated(result.location, ui, prefix);
  result['x-frame-options'] = 'SAMEORIGIN';
  const cookie = `${COOKIE}=${ui.name}; Path=/; SameSite=Lax`;
  const own = result['set-cookie'];
  result['set-cookie'] = own === undefined ? [cookie] : [...(Array.isArray(own) ? own : [own]), cookie];
  return result;
}

/** A redirect from the root of the service stays below its prefix. */
function relocated(location: string, { host, port }: ServiceUi, prefix: string): string {
  const local = location.replace(
    new RegExp(`^https?://(?:${host.replaceAll('.', '\\.')}|localhost):${port}(?=/|$)`),
    '',
  );
  return local.startsWith('/') && !local.startsWith('//') && !local.startsWith(`${prefix}/`)
    ? prefix + local
    : location;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
