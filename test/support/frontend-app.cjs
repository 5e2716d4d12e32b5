// A stand-in for the web frontend as a process of its own. Like the frontend, it forwards `/api` and the streams to
// DMB_API_URL, and `/ui/<name>` to `/service/ui/<name>` below DMB_TRAEFIK_URL. Like a Nitro server, it ends only when
// its clients have closed their connections, which browsers keep open, or after NITRO_SHUTDOWN_TIMEOUT.
const { readFileSync } = require('node:fs');
const { createServer, request } = require('node:http');
const { connect } = require('node:net');
const path = require('node:path');

const api = new URL(process.env.DMB_API_URL);
const uis = new URL(process.env.DMB_TRAEFIK_URL);
const shutdownMs = Number(process.env.NITRO_SHUTDOWN_TIMEOUT ?? 30_000);
const page = readFileSync(path.join(__dirname, 'frontend-page.html'), 'utf8').replace('{run}', String(process.pid));

/** The address to which a request is forwarded; undefined for the frontend's own pages. */
function targetOf({ url, headers }) {
  if (/^\/api(\/|\?|$)/.test(url)) return { base: api, path: url.slice('/api'.length) || '/' };
  if (/^\/ws\/(logs|status|metrics)(\?|$)/.test(url)) return { base: api, path: url };
  if (/^\/ui\/[^/]+/.test(url)) return { base: uis, path: `/service${url}` };
  const referer = URL.canParse(headers.referer ?? '') ? new URL(headers.referer).pathname : '';
  const isUpgrade = headers.upgrade !== undefined;
  if (/^\/ui\//.test(referer) || (isUpgrade && /dumb_ui_service=/.test(headers.cookie ?? '')))
    return { base: uis, path: url };
  return undefined;
}

const server = createServer({ keepAliveTimeout: 0 }, (incoming, outgoing) => {
  const target = targetOf(incoming);
  if (target === undefined) {
    const isPage = incoming.headers.accept?.includes('text/html');
    outgoing.writeHead(isPage ? 200 : 404, { 'content-type': 'text/html' }).end(isPage ? page : '');
    return;
  }
  const [, name] = /^\/ui\/([^/?]+)/.exec(incoming.url) ?? [];
  // Pages of services are shown in a frame. In a window of its own, the frontend redirects to its start page.
  if (name !== undefined && incoming.headers['sec-fetch-dest'] === 'document') {
    outgoing.writeHead(302, { location: '/' }).end();
    return;
  }
  const headers = { ...incoming.headers, host: target.base.host };
  const { method } = incoming;
  const { hostname: host, port } = target.base;
  // A connection that is kept open could be closed at the very moment at which it is used again.
  const upstream = request({ host, port, path: target.path, method, headers, agent: false });
  upstream.on('response', answer => {
    const cookies = [...(answer.headers['set-cookie'] ?? [])];
    if (name !== undefined) cookies.push(`dumb_ui_service=${name}; Path=/; SameSite=Lax`);
    outgoing.writeHead(answer.statusCode, { ...answer.headers, ...(cookies.length > 0 && { 'set-cookie': cookies }) });
    answer.pipe(outgoing);
  });
  upstream.on('error', () => {
    if (outgoing.headersSent) outgoing.destroy();
    else outgoing.writeHead(504).end('the backend does not answer');
  });
  incoming.pipe(upstream);
});

server.on('upgrade', (incoming, socket, head) => {
  const target = targetOf(incoming);
  if (target === undefined) {
    socket.destroy();
    return;
  }
  const upstream = connect(Number(target.base.port), target.base.hostname, () => {
    const headers = Object.entries({ ...incoming.headers, host: target.base.host, origin: target.base.origin });
    upstream.write(`GET ${target.path} HTTP/1.1\r\n${headers.map(pair => pair.join(': ')).join('\r\n')}\r\n\r\n`);
    upstream.write(head);
    socket.pipe(upstream).pipe(socket);
  });
  const end = () => {
    socket.destroy();
    upstream.destroy();
  };
  for (const side of [socket, upstream]) side.on('error', end).on('close', end);
});

let open = 0;
server.on('connection', socket => {
  open += 1;
  socket.on('close', () => {
    open -= 1;
    if (open === 0 && !server.listening) process.exit(0);
  });
});
process.on('SIGTERM', () => {
  server.close();
  if (open === 0) process.exit(0);
  setTimeout(() => process.exit(0), shutdownMs);
});
server.listen(Number(process.env.PORT), process.env.HOST, () => console.log('[info] Listening'));
