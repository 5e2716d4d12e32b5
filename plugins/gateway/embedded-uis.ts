// Proxies the web interfaces of services: `/ui/<name>/` and `/service/ui/<name>/` are forwarded to the service's port.
import { type IncomingMessage, request as openRequest, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Pool } from 'undici';
import { refuse, refuseSocket } from '#kit/refusal';
import type { ServiceUi } from '../service-ui/contract.ts';
import { AwaitingClient } from './awaiting-client.ts';

const UI_PATH = /^(\/(?:service\/)?ui\/([^/?#]+))(?=[/?#]|$)/;
/**
 * Names the interface that was opened last, because the handshake of a WebSocket does not name the page that opens it.
 */
const COOKIE_NAME = 'dumb_ui_service';
const RESPONSE_TIMEOUT_MS = 15 * 60_000;
const KEEP_ALIVE_MS = 2 * 60_000;
/** Headers that concern a single connection and are never forwarded. */
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
/** Headers that the gateway sets itself, because the frontend shows interfaces in a frame of its own origin. */
const REPLACED_HEADERS = new Set(['x-frame-options']);

interface Destination {
  readonly ui: ServiceUi;
  /** Path and query that the service is asked for. */
  readonly path: string;
  /** Path below which the browser sees the interface. */
  readonly prefix: string;
}

export class EmbeddedUis {
  readonly #listUis: () => readonly ServiceUi[];
  readonly #pools = new Map<string, Pool>();
  readonly #upgradedSockets = new Set<Duplex>();
  readonly #isOwnCredential: (authorization: string) => boolean;
  readonly #responseTimeoutMs: number;

  /**
   * `listUis` is asked at each request, so that a change of the configuration takes effect at once. An interface never
   * receives an `Authorization` that `isOwnCredential` says is for the host.
   */
  constructor(
    listUis: () => readonly ServiceUi[],
    isOwnCredential: (authorization: string) => boolean,
    responseTimeoutMs = RESPONSE_TIMEOUT_MS,
  ) {
    this.#listUis = listUis;
    this.#isOwnCredential = isOwnCredential;
    this.#responseTimeoutMs = responseTimeoutMs;
  }

  /** Answers a request for an interface. Returns false, and leaves the response alone, for any other request. */
  handleRequest(request: IncomingMessage, response: ServerResponse): boolean {
    const url = request.url ?? '/';
    const [, prefix, name] = UI_PATH.exec(url) ?? [];
    const target = this.#findDestination(request);
    if (target === undefined) {
      if (name === undefined) return false;
      refuse(response, 404, `There is no web interface named ${decodeOrKeep(name)} here`);
      return true;
    }
    // Without the slash, the browser would resolve relative links of the page against the parent folder.
    if (prefix !== undefined && url.slice(prefix.length).replace(/[?#].*$/s, '') === '') {
      response.writeHead(307, { Location: `${prefix}/${url.slice(prefix.length)}` }).end();
      return true;
    }
    void this.#forward(target, request, response);
    return true;
  }

  /** Forwards an upgrade for an interface. Returns false, and leaves the socket alone, for any other upgrade. */
  handleUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer): boolean {
    const target = this.#findDestination(request);
    if (target === undefined || request.headers.upgrade?.toLowerCase() !== 'websocket') return false;
    this.#forwardUpgrade(target, request, socket, head);
    return true;
  }

  async close(): Promise<void> {
    for (const socket of this.#upgradedSockets) socket.destroy();
    await Promise.all([...this.#pools.values()].map(pool => pool.destroy()));
  }

  /**
   * The path decides; for a path from the root, the page that sends the request, or the interface that was opened last.
   */
  #findDestination({ url = '/', headers, method }: IncomingMessage): Destination | undefined {
    const [, prefix, name] = UI_PATH.exec(url) ?? [];
    if (prefix !== undefined && name !== undefined) {
      const ui = this.#find(name);
      if (ui === undefined) return undefined;
      const rest = url.slice(prefix.length);
      const isRoot = rest === '' || rest === '/';
      return { ui, path: isRoot && ui.entryPath !== '' ? ui.entryPath : rest, prefix: `/ui/${ui.name}` };
    }
    const opened = this.#findOpenedUi(headers, method === 'GET' && headers.upgrade !== undefined);
    return opened === undefined ? undefined : { ui: opened, path: url, prefix: `/ui/${opened.name}` };
  }

  #findOpenedUi(headers: IncomingMessage['headers'], isUpgrade: boolean): ServiceUi | undefined {
    const { referer, host, cookie } = headers;
    if (referer !== undefined && URL.canParse(referer)) {
      const page = new URL(referer);
      const [, , name] = (page.host === host ? UI_PATH.exec(page.pathname) : null) ?? [];
      if (name !== undefined) return this.#find(name);
    }
    // The handshake of a WebSocket carries no Referer.
    const [, last] = isUpgrade ? (new RegExp(`(?:^|;\\s*)${COOKIE_NAME}=([^;]*)`).exec(cookie ?? '') ?? []) : [];
    return last === undefined ? undefined : this.#find(last);
  }

  #find(name: string): ServiceUi | undefined {
    return this.#listUis().find(ui => ui.name === decodeOrKeep(name).toLowerCase());
  }

  async #forward(target: Destination, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { ui, path, prefix } = target;
    const clientGone = new AbortController();
    response.once('close', () => clientGone.abort());
    const hasBody = 'content-length' in request.headers || 'transfer-encoding' in request.headers;
    try {
      const pool = await this.#openPool(ui);
      await pool.stream(
        {
          method: request.method as 'GET',
          path: path.startsWith('/') ? path : `/${path}`,
          headers: this.#requestHeaders(request, prefix),
          body: hasBody ? request : null,
          signal: clientGone.signal,
        },
        ({ statusCode, headers }) => {
          response.writeHead(statusCode, buildResponseHeaders(headers, target));
          return response;
        },
      );
    } catch (error) {
      if (response.headersSent || clientGone.signal.aborted) response.destroy();
      else {
        const isTimeout = (error as Error).name === 'HeadersTimeoutError';
        refuse(response, isTimeout ? 504 : 502, `${ui.processName} does not answer on port ${ui.port}`);
      }
    }
  }

  #forwardUpgrade(target: Destination, request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const { ui, path, prefix } = target;
    const headers = { ...this.#requestHeaders(request, prefix), connection: 'Upgrade', upgrade: 'websocket' };
    const outgoing = openRequest({
      // A connection of its own: what is left on it after an upgrade must never meet another request.
      agent: false,
      host: ui.host,
      port: ui.port,
      path: path.startsWith('/') ? path : `/${path}`,
      headers,
    });
    const client = new AwaitingClient(socket, head);
    let isTimeout = false;
    const timer = setTimeout(() => {
      isTimeout = true;
      outgoing.destroy();
    }, this.#responseTimeoutMs);
    this.#upgradedSockets.add(socket);
    socket.once('close', () => {
      clearTimeout(timer);
      this.#upgradedSockets.delete(socket);
      outgoing.destroy();
    });
    const fail = (status: number, detail: string): void => {
      clearTimeout(timer);
      outgoing.destroy();
      if (!socket.destroyed) refuseSocket(socket, status, `${ui.processName} ${detail}`);
    };
    outgoing.on('error', () => fail(isTimeout ? 504 : 502, `does not answer on port ${ui.port}`));
    outgoing.on('response', answer => fail(answer.statusCode ?? 502, 'does not take this connection'));
    outgoing.on('upgrade', (answer, upstream, upstreamHead) => {
      clearTimeout(timer);
      const lines = [`HTTP/1.1 101 ${answer.statusMessage}`];
      for (let index = 0; index < answer.rawHeaders.length; index += 2) {
        lines.push(`${answer.rawHeaders[index]}: ${answer.rawHeaders[index + 1]}`);
      }
      socket.write(`${lines.join('\r\n')}\r\n\r\n`);
      if (upstreamHead.length > 0) socket.write(upstreamHead);
      client.connect(upstream);
    });
    outgoing.end();
  }

  #requestHeaders(request: IncomingMessage, prefix: string): Record<string, string | string[]> {
    const { authorization, ...headers } = buildRequestHeaders(request, prefix);
    const isForService = typeof authorization === 'string' && !this.#isOwnCredential(authorization);
    return isForService ? { ...headers, authorization } : headers;
  }

  async #openPool({ host, port }: ServiceUi): Promise<Pool> {
    const { Pool } = await import('undici');
    const origin = `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
    const known =
      this.#pools.get(origin) ??
      new Pool(origin, { headersTimeout: this.#responseTimeoutMs, bodyTimeout: 0, keepAliveTimeout: KEEP_ALIVE_MS });
    this.#pools.set(origin, known);
    return known;
  }
}

function buildRequestHeaders(request: IncomingMessage, prefix: string): Record<string, string | string[]> {
  const headers: Record<string, string | string[]> = {};
  const connectionHeaders = new Set(
    String(request.headers.connection ?? '')
      .toLowerCase()
      .split(',')
      .map(name => name.trim()),
  );
  for (const [name, value] of Object.entries(request.headers)) {
    if (value !== undefined && !HOP_BY_HOP.has(name) && !connectionHeaders.has(name)) headers[name] = value;
  }
  const earlierHops = request.headers['x-forwarded-for'];
  headers['x-forwarded-for'] = [earlierHops, request.socket.remoteAddress].filter(Boolean).join(', ');
  headers['x-forwarded-proto'] = 'http';
  headers['x-forwarded-host'] = request.headers.host ?? '';
  headers['x-forwarded-prefix'] = prefix;
  return headers;
}

function buildResponseHeaders(
  headers: Record<string, string | string[] | undefined>,
  { ui, prefix }: Destination,
): Record<string, string | string[]> {
  const result: Record<string, string | string[]> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined && !HOP_BY_HOP.has(name) && !REPLACED_HEADERS.has(name)) result[name] = value;
  }
  if (typeof result.location === 'string') result.location = rewriteLocation(result.location, ui, prefix);
  result['x-frame-options'] = 'SAMEORIGIN';
  const cookie = `${COOKIE_NAME}=${ui.name}; Path=/; SameSite=Lax`;
  const serviceCookies = result['set-cookie'] ?? [];
  result['set-cookie'] = [...(Array.isArray(serviceCookies) ? serviceCookies : [serviceCookies]), cookie];
  return result;
}

/** Moves a redirect within the service below the prefix; a redirect to elsewhere stays as it is. */
function rewriteLocation(location: string, { host, port }: ServiceUi, prefix: string): string {
  const local = location.replace(
    new RegExp(`^https?://(?:${host.replaceAll('.', '\\.')}|localhost):${port}(?=/|$)`),
    '',
  );
  return local.startsWith('/') && !local.startsWith('//') && !local.startsWith(`${prefix}/`)
    ? prefix + local
    : location;
}

function decodeOrKeep(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
