// A request manager behind a socket of its own, which can be closed and opened again at the same port.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Test } from 'tap';
import { freePort } from './host-config.ts';
import { API_PATH, RequestManager, type RequestManagerOptions } from './request-manager.ts';
import { deliver } from './request-manager-delivery.ts';

export interface RequestManagerServer {
  readonly manager: RequestManager;
  /** The address with the path prefix, without a slash at the end. */
  readonly url: string;
  /** How many calls are being answered now, and the most there were at once. */
  readonly inFlight: { now: number; most: number };
  /** Ends every connection; callers are refused until `open`. */
  close(): Promise<void>;
  open(): Promise<void>;
}

export interface RequestManagerServerOptions extends RequestManagerOptions {
  /** A prefix before `/api/v1`, such as `/requests`. */
  readonly pathPrefix?: string;
  /** How long each page waits for the media managers, if the product asks them. */
  readonly mediaManagersMs?: number;
}

export async function startRequestManager(
  t: Pick<Test, 'teardown'>,
  { pathPrefix = '', mediaManagersMs = 0, ...options }: RequestManagerServerOptions = {},
): Promise<RequestManagerServer> {
  const manager = new RequestManager(options);
  const base = `${pathPrefix}${API_PATH}`;
  const port = await freePort();
  const inFlight = { now: 0, most: 0 };
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { pathname, searchParams: query } = new URL(request.url ?? '/', 'http://localhost');
    if (!pathname.startsWith(`${base}/`)) {
      response.writeHead(404, { 'content-type': 'text/html' }).end('<html>Not found</html>');
      return;
    }
    let text = '';
    for await (const chunk of request) text += chunk;
    const path = pathname.slice(base.length);
    const { method = 'GET' } = request;
    const headers = request.headers as Record<string, string>;
    const body = text === '' ? undefined : JSON.parse(text);
    const isPage = method === 'GET' && path === '/request';
    const { delayMs, end, ...answer } = deliver(manager, { method, path, query, headers, body });
    if (end === 'never') return;
    const waitMs = delayMs + (isPage && manager.product.asksMediaManagers ? mediaManagersMs : 0);
    if (waitMs > 0) await new Promise(resolve => setTimeout(resolve, waitMs).unref());
    if (response.destroyed) return;
    if (end === 'cut') {
      if (answer.text !== '') {
        response.writeHead(answer.status, { ...answer.headers, 'content-length': Buffer.byteLength(answer.text) });
        await new Promise<void>(resolve =>
          response.write(answer.text.slice(0, answer.text.length / 2), () => resolve()),
        );
      }
      response.destroy();
      return;
    }
    response.writeHead(answer.status, answer.headers).end(answer.text);
  };
  const listen = async (): Promise<Server> => {
    const server = createServer((request, response) => {
      inFlight.now += 1;
      inFlight.most = Math.max(inFlight.most, inFlight.now);
      response.once('close', () => {
        inFlight.now -= 1;
      });
      // A caller that disconnects in the middle of its body is no failure of the test.
      serve(request, response).catch(() => response.destroy());
    });
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject).listen(port, '127.0.0.1', resolve);
    });
    return server;
  };
  let server: Server | undefined = await listen();
  const close = async (): Promise<void> => {
    const open = server;
    server = undefined;
    if (open === undefined) return;
    const closed = new Promise(resolve => open.close(resolve));
    open.closeAllConnections();
    await closed;
  };
  t.teardown(close);
  return {
    manager,
    url: `http://127.0.0.1:${port}${pathPrefix}`,
    inFlight,
    close,
    async open() {
      server ??= await listen();
    },
  };
}
