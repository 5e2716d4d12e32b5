// Proxies the web interfaces of services: `/ui/<name>/` and `/service/ui/<name>/` are forwarded to the service's port.
import {
  type Agent,
  type ClientRequest,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  request as openRequest,
  type ServerResponse,
} from 'node:http';
import type { Duplex } from 'node:stream';
import type { HttpEntrance } from '#core';
import { percentDecoded } from '#kit/percent-decoded';
import { refuse, refuseSocket } from '#kit/refusal';
import { endWhenUnread } from '#kit/stalled-client';
import { isDecoded } from '#kit/transfer-coding';
import type { ServiceUi } from '../service-ui/contract.ts';
import { AwaitingClient } from './awaiting-client.ts';
import {
  buildRequestHeaders,
  buildResponseHeaders,
  forwardedPairs,
  interimAnswer,
  refusalLines,
} from './forwarded-headers.ts';
import { OwnCredentials } from './own-credentials.ts';
import { moveRedirect } from './redirects.ts';
import { PROBE_AFTER_MS, ServiceConnections } from './service-connections.ts';
import { COOKIE_NAME, type Destination, namedUi, UiDestinations } from './ui-destinations.ts';

const RESPONSE_TIMEOUT_MS = 15 * 60_000;
/** The limit for the headers of an answer, which is also that of the host for requests. */
const MAX_HEADER_BYTES = 64 * 1024;
/** TCP keep-alive, by which the system notices that the machine of a service is gone. */
const PROBED = { keepAlive: true, keepAliveInitialDelay: PROBE_AFTER_MS };
/** Methods that change nothing, so that the request may be sent twice. */
const REPEATABLE = new Set(['GET', 'HEAD', 'OPTIONS']);
const LIST = 'GET /config/service-ui lists those of enabled services';
const OFF =
  'Web interfaces are switched off where users must log in; switch them on by POST /config/service-ui {"enabled": true}';
const CODED = 'compresses its answers in a way that nobody asked for (Transfer-Encoding); see to its settings';
const LARGE_HEADERS = 'answers with headers of more than 64 KiB; see to what it puts there';
const WORKER_AT_ROOT =
  'A service worker of an interface would stand before every page here; open the interface at an address of its own';

interface Request {
  readonly method: string | undefined;
  readonly headers: OutgoingHttpHeaders;
  readonly agent: Agent | false;
}

export interface EmbeddedUisOptions {
  /** Asked at each request, so that a change of the configuration takes effect at once. */
  readonly listUis: () => readonly ServiceUi[];
  /** Whether interfaces are switched off, so that none is served; the refusal of a request then says so. */
  readonly areOff?: () => boolean;
  /**
   * Whether the value of an `Authorization` header is for the host. An interface never receives such a value, be it in
   * that header, in a cookie or in a query, be it that of the request or that of the page that sends it.
   */
  readonly isOwnCredential: (authorization: string) => boolean;
  /**
   * Whether requests come from a web frontend instead of the browser. The frontend sets the cookie and rewrites
   * redirects itself, as it does in front of a reverse proxy, and sends another `Host` than the browser. Default false.
   */
  readonly behindFrontend?: boolean;
  /**
   * Serves the host's own API directly: were its requests forwarded to the API's port, all clients would have the
   * address of this machine and share one rate limit.
   */
  readonly entrance?: Pick<HttpEntrance, 'handle'>;
  /** Whether the proxy at this address is trusted in what it says about the browser's request. Default: none is. */
  readonly isTrustedProxy?: (address: string) => boolean;
  /** Called with each response that passes on the answer of a service, because that may take long. */
  readonly allowCut?: HttpEntrance['allowCut'];
  readonly responseTimeoutMs?: number;
  /** How long either side of a WebSocket may leave unread what the other sends. Default 60 s. */
  readonly unreadMs?: number;
  /** Whether the process is known not to run; the refusal of a request then says so. Default: not known. */
  readonly isStopped?: (processName: string) => boolean;
}

export class EmbeddedUis {
  readonly #options: EmbeddedUisOptions;
  readonly #credentials: OwnCredentials;
  readonly #destinations: UiDestinations;
  readonly #connections = new ServiceConnections();
  readonly #upgradedSockets = new Set<Duplex>();

  constructor(options: EmbeddedUisOptions) {
    const { listUis, isOwnCredential, behindFrontend = false } = options;
    this.#options = options;
    this.#credentials = new OwnCredentials(isOwnCredential);
    this.#destinations = new UiDestinations({ listUis, behindFrontend, credentials: this.#credentials });
  }

  /** Answers a request for an interface. Returns false, and leaves the response alone, for any other request. */
  handleRequest(request: IncomingMessage, response: ServerResponse): boolean {
    const url = request.url ?? '/';
    const { prefix, name } = namedUi(url);
    const target = this.#destinations.find(request);
    // Browsers mark the request for a service worker's script, which would control all pages below the folder of its
    // URL.
    if (target !== undefined && name === undefined && request.headers['service-worker'] !== undefined) {
      refuse(response, 403, WORKER_AT_ROOT);
      return true;
    }
    if (target === undefined) {
      if (name === undefined) return false;
      refuse(response, 404, this.#whyAbsent(name));
      return true;
    }
    // Without the slash, the browser would resolve relative links of the page against the parent folder.
    if (prefix !== undefined && url.slice(prefix.length).replace(/[?#].*$/s, '') === '') {
      response.writeHead(307, { Location: `${prefix}/${url.slice(prefix.length)}` }).end();
      return true;
    }
    const { entrance, allowCut } = this.#options;
    if (target.ui.isHost && entrance !== undefined) {
      request.url = target.path;
      entrance.handle(request, response, { native: true });
    } else {
      allowCut?.(response);
      this.#forward(target, request, response);
    }
    return true;
  }

  /** Answers an upgrade for an interface. Returns false, and leaves the socket alone, for any other upgrade. */
  handleUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer): boolean {
    const target = this.#destinations.find(request);
    const { name } = namedUi(request.url ?? '/');
    if (target !== undefined) this.#forwardUpgrade(target, request, socket, head);
    else if (name !== undefined) refuseSocket(socket, 404, this.#whyAbsent(name));
    return target !== undefined || name !== undefined;
  }

  close(): void {
    for (const socket of this.#upgradedSockets) socket.destroy();
    this.#connections.destroy();
  }

  #whyAbsent(name: string): string {
    return this.#options.areOff?.() === true
      ? OFF
      : `There is no web interface named ${percentDecoded(name)} here; ${LIST}`;
  }

  /** Why the service gave no answer that can be passed on, as the end of a sentence that begins with its name. */
  #whyNoAnswer({ processName, port }: ServiceUi, fault: NodeJS.ErrnoException | undefined): string {
    if (fault?.code === 'HPE_HEADER_OVERFLOW') return LARGE_HEADERS;
    if (fault?.code?.startsWith('HPE_')) return `gives no answer of HTTP/1.1 on port ${port}; see to its settings`;
    const isStopped = this.#options.isStopped?.(processName) === true;
    return isStopped ? 'is not running; start it' : `does not answer on port ${port}`;
  }

  #forward(
    target: Destination,
    request: IncomingMessage,
    response: ServerResponse,
    agent: Request['agent'] = this.#connections,
  ): void {
    const { ui, prefix } = target;
    const headers: OutgoingHttpHeaders = this.#requestHeaders(request, prefix);
    // `Connection` may list Content-Length, which is then dropped. Without either header the service would take the
    // body for its next request.
    const hasBody = 'content-length' in request.headers || 'transfer-encoding' in request.headers;
    if (hasBody && headers['content-length'] === undefined) headers['transfer-encoding'] = 'chunked';
    const mayRepeat = agent !== false && !hasBody && REPEATABLE.has(request.method ?? '');
    const outgoing = this.#ask(target, { method: request.method, headers, agent });
    let isTimeout = false;
    // Any traffic starts this timeout anew, so that long uploads pass.
    outgoing.setTimeout(this.#options.responseTimeoutMs ?? RESPONSE_TIMEOUT_MS, () => {
      isTimeout = true;
      outgoing.destroy();
    });
    response.once('close', () => outgoing.destroy());
    let fault: NodeJS.ErrnoException | undefined;
    let endsWithConnection = false;
    outgoing.on('error', error => {
      fault = error;
      // Node takes an answer for complete when a reset ends it, and neither a length nor chunks tell its end.
      if (endsWithConnection && !hasBody) response.destroy();
    });
    outgoing.on('information', interim => {
      // The service was not asked for `100 Continue`. A client that reads nothing must not make the others pile up.
      if (interim.statusCode === 100 || request.httpVersion === '1.0' || response.headersSent) return;
      if (response.socket?.writableNeedDrain === false) response.socket.write(interimAnswer(interim), 'latin1');
    });
    // Not `error`: when a service answers with an upgrade that was not requested, the request closes without an error.
    outgoing.once('close', () => {
      // The rest of the body is read and dropped, because a client reads the answer only after it has sent its body.
      request.unpipe(outgoing).resume();
      if (response.headersSent || response.destroyed) return;
      // A service may close a kept connection at any moment, even while it is being used again.
      if (mayRepeat && outgoing.reusedSocket && !isTimeout) this.#forward(target, request, response, false);
      else refuse(response, isTimeout ? 504 : 502, `${ui.processName} ${this.#whyNoAnswer(ui, fault)}`);
    });
    outgoing.on('response', answer => {
      outgoing.setTimeout(0);
      const { statusCode = 0 } = answer;
      if (statusCode < 200) {
        // HTTP has no final answer with such a status.
        outgoing.destroy();
        return;
      }
      if (!isDecoded(answer.headers)) {
        refuse(response, 502, `${ui.processName} ${CODED}`);
        outgoing.destroy();
        return;
      }
      endsWithConnection = !('content-length' in answer.headers || 'transfer-encoding' in answer.headers);
      const hosts = [request.headers.host, headers['x-forwarded-host']];
      const told = this.#responseHeaders(answer.headersDistinct, target, hosts);
      if (statusCode === 204) delete told['content-length'];
      response.writeHead(statusCode, told);
      // A stream of events may send nothing for long, but its client waits for the headers.
      if (!('content-length' in told)) response.flushHeaders();
      answer.once('end', () => response.addTrailers(forwardedPairs(answer.rawTrailers)));
      // An answer that breaks off must not look complete.
      answer.on('error', () => response.destroy()).pipe(response);
    });
    request.pipe(outgoing);
  }

  #forwardUpgrade(target: Destination, request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const { ui, prefix } = target;
    const headers = { ...this.#requestHeaders(request, prefix), connection: 'Upgrade', upgrade: 'websocket' };
    // Uses a new connection: bytes that remain on it after an upgrade must never be read by another request.
    const outgoing = this.#ask(target, { method: 'GET', headers, agent: false });
    const client = new AwaitingClient(socket, head);
    let isTimeout = false;
    const timer = setTimeout(() => {
      isTimeout = true;
      outgoing.destroy();
    }, this.#options.responseTimeoutMs ?? RESPONSE_TIMEOUT_MS);
    this.#upgradedSockets.add(socket);
    socket.once('close', () => {
      clearTimeout(timer);
      this.#upgradedSockets.delete(socket);
      outgoing.destroy();
    });
    const fail = (status: number, detail: string, lines: readonly string[] = []): void => {
      clearTimeout(timer);
      outgoing.destroy();
      if (!socket.destroyed) refuseSocket(socket, status, `${ui.processName} ${detail}`, lines);
    };
    outgoing.on('error', error => fail(isTimeout ? 504 : 502, this.#whyNoAnswer(ui, error)));
    outgoing.on('response', ({ statusCode, headersDistinct }) => {
      const status = refusalStatus(statusCode);
      const lines = status === statusCode ? refusalLines(headersDistinct) : [];
      fail(status, 'does not take this connection', lines);
    });
    outgoing.on('upgrade', (answer, upstream, upstreamHead) => {
      clearTimeout(timer);
      const lines = [`HTTP/1.1 101 ${answer.statusMessage}`];
      for (let index = 0; index < answer.rawHeaders.length; index += 2) {
        lines.push(`${answer.rawHeaders[index]}: ${answer.rawHeaders[index + 1]}`);
      }
      socket.write(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
      if (upstreamHead.length > 0) socket.write(upstreamHead);
      client.connect(upstream);
      for (const side of [socket, upstream]) endWhenUnread(side, this.#options.unreadMs);
    });
    outgoing.end();
  }

  #ask({ ui: { host, port }, path }: Destination, options: Request): ClientRequest {
    return openRequest({
      ...options,
      host,
      port,
      path: encoded(path.startsWith('/') ? path : `/${path}`),
      maxHeaderSize: MAX_HEADER_BYTES,
      ...PROBED,
    });
  }

  #requestHeaders(request: IncomingMessage, prefix: string): Record<string, string | string[]> {
    const isProxied = this.#options.isTrustedProxy?.(request.socket.remoteAddress ?? '') === true;
    const { authorization, cookie, referer, ...headers } = buildRequestHeaders(request, prefix, isProxied);
    if (typeof authorization === 'string' && !this.#credentials.isHeader(authorization))
      headers.authorization = authorization;
    if (typeof cookie === 'string') headers.cookie = this.#credentials.cookieWithout(cookie);
    if (typeof referer === 'string') headers.referer = this.#credentials.pathWithout(referer);
    return headers;
  }

  #responseHeaders(
    headers: Readonly<Record<string, string[] | undefined>>,
    target: Destination,
    ownHosts: readonly unknown[],
  ): Record<string, string | string[]> {
    const result = buildResponseHeaders(headers);
    if (this.#options.behindFrontend === true) return result;
    if (typeof result.location === 'string') result.location = this.#moved(result.location, target, ownHosts);
    const cookie = `${COOKIE_NAME}=${target.ui.name}; Path=/; SameSite=Lax`;
    const serviceCookies = result['set-cookie'] ?? [];
    result['set-cookie'] = [...(Array.isArray(serviceCookies) ? serviceCookies : [serviceCookies]), cookie];
    return result;
  }

  #moved(location: string, target: Destination, ownHosts: readonly unknown[]): string {
    return moveRedirect(location, target, { ownHosts, isOfUi: path => this.#destinations.knows(path) });
  }
}

/** Percent-encodes blanks, control and non-ASCII characters, which the configured path of a landing page may hold. */
function encoded(path: string): string {
  return path.replace(/[^\x21-\x7E]+/g, part => Buffer.from(part).toString('hex').replace(/../g, '%$&'));
}

/** The status to refuse an upgrade with: the service's own if it is an error, otherwise 502. */
function refusalStatus(status = 502): number {
  return status < 400 ? 502 : status;
}
