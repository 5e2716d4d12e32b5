// Forwarded answers, files and WebSockets whose clients stop, and uploads that stop: each ends with what it holds
// towards its service. However slow or quiet, whatever goes on is left alone, and only own routes limit the time of a
// request.
import { once } from 'node:events';
import { readdir, readFile, readlink, truncate } from 'node:fs/promises';
import { createServer as createHttpServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import path from 'node:path';
import t, { type Test } from 'tap';
import { z } from 'zod';
import { EmbeddedUis } from '../../plugins/gateway/embedded-uis.ts';
import { createGateway } from '../../plugins/gateway/gateway.ts';
import { testDir } from '../support/directory.ts';
import { openEntrance } from '../support/entrance.ts';
import { until } from '../support/until.ts';

const PIECE = 'x'.repeat(65_536);
const FILE_BYTES = 64 * 1024 * 1024;

interface Forwarding {
  readonly port: number;
  /** Of the service. */
  readonly connections: Set<Socket>;
}

interface Times {
  readonly unreadMs?: number;
  readonly requestMs?: number;
}

async function open(
  t: Test,
  times: Times,
  serve: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<Forwarding> {
  const connections = new Set<Socket>();
  const service = createHttpServer(serve);
  service.on('connection', socket => {
    connections.add(socket);
    socket.on('error', () => undefined).once('close', () => connections.delete(socket));
  });
  service.on('upgrade', (request, socket) => {
    socket.on('error', () => undefined);
    socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n');
    if (request.url === '/talks') endlessly(piece => socket.write(piece), socket);
    else if (request.url === '/deaf') socket.pause();
    else socket.pipe(socket);
  });
  const dir = testDir(t, { static: { 'large.bin': '', 'index.html': '<h1>' } });
  await truncate(path.join(dir, 'static', 'large.bin'), FILE_BYTES);
  const entrance = await openEntrance(dir, times);
  t.teardown(() => entrance.close());
  const body = z.object({ a: z.string() });
  entrance.http.addRoute('a', { method: 'POST', path: '/own', summary: 'own', body, handle: call => call.body });
  const ui = { name: 'app', processName: 'App', host: '127.0.0.1', port: await listen(t, service), entryPath: '' };
  const embedded = new EmbeddedUis({
    ...times,
    listUis: () => [ui as never],
    isOwnCredential: () => false,
    allowCut: entrance.http.allowCut,
  });
  t.teardown(() => {
    embedded.close();
    for (const socket of connections) socket.destroy();
  });
  const staticDir = path.join(dir, 'static');
  const gateway = createGateway({ entrance: entrance.http, embedded, staticDir, refusal: () => null, nativeUrl: '' });
  const listener = await entrance.http.open({ host: '127.0.0.1', port: 0, ...gateway });
  t.teardown(() => listener.close(0));
  return { port: listener.port, connections };
}

async function listen(t: Test, server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  return (server.address() as AddressInfo).port;
}

/** Writes on whenever there is room again. */
function endlessly(write: (piece: string) => boolean, to: NodeJS.WritableStream): void {
  const fill = (): void => {
    while (write(PIECE));
  };
  to.on('drain', fill).on('error', () => undefined);
  fill();
}

function dial(t: Test, port: number, ...lines: readonly string[]): { socket: Socket; told(): string } {
  const socket = connect(port, '127.0.0.1').on('error', () => undefined);
  t.teardown(() => socket.destroy());
  let told = '';
  socket.on('data', (chunk: Buffer) => {
    told = (told + chunk.toString('latin1')).slice(0, 2_000);
  });
  socket.write(`${[...lines, 'Host: nas'].join('\r\n')}\r\n\r\n`);
  return { socket, told: () => told };
}

const UPGRADE = ['Connection: Upgrade', 'Upgrade: websocket'];

t.test('a forwarded answer that nobody reads ends, and with it its connection to the service', async t => {
  const { port, connections } = await open(t, { unreadMs: 200 }, (_request, response) =>
    endlessly(piece => response.write(piece), response),
  );
  const { socket } = dial(t, port, 'GET /ui/app/endless HTTP/1.1');
  socket.pause();
  await until(() => connections.size === 1, { what: 'the request' });
  await until(() => connections.size === 0, { what: 'the service to be left' });
  socket.resume();
  await until(() => socket.closed, { what: 'the client to see the end' });
});

t.test('a file that nobody reads ends', async t => {
  const { port } = await open(t, { unreadMs: 200 }, () => undefined);
  const isOpen = async (): Promise<boolean> => (await openFiles()).some(name => name.endsWith('/large.bin'));
  const { socket } = dial(t, port, 'GET /large.bin HTTP/1.1');
  socket.pause();
  await until(isOpen, { what: 'the file to be open' });
  await until(async () => !(await isOpen()), { what: 'the file to be closed' });
});

for (const kind of ['talks', 'deaf']) {
  t.test(`a WebSocket one side of which takes nothing ends (${kind})`, async t => {
    const { port, connections } = await open(t, { unreadMs: 200 }, () => undefined);
    const { socket, told } = dial(t, port, `GET /ui/app/${kind} HTTP/1.1`, ...UPGRADE);
    await until(() => told().startsWith('HTTP/1.1 101'), { what: 'the upgrade' });
    if (kind === 'talks') socket.pause();
    else endlessly(piece => socket.write(piece), socket);
    // Neither side sees that the other is gone while it does not read.
    await until(() => (kind === 'talks' ? connections.size === 0 : socket.closed), { what: 'the end' });
  });
}

t.test('what is quiet goes on', async t => {
  let events: ServerResponse | undefined;
  const { port, connections } = await open(t, { unreadMs: 100 }, (request, response) => {
    if (request.url === '/endless') endlessly(piece => response.write(piece), response);
    else events = response.writeHead(200, { 'Content-Type': 'text/event-stream' });
    response.flushHeaders();
  });
  const quiet = dial(t, port, 'GET /ui/app/events HTTP/1.1');
  const echo = dial(t, port, 'GET /ui/app/echo HTTP/1.1', ...UPGRADE);
  await until(() => quiet.told().includes('event-stream') && echo.told().includes('101'), { what: 'both to begin' });
  // Each of these lasts as long as a client may stop.
  for (let count = 0; count < 3; count += 1) {
    dial(t, port, 'GET /ui/app/endless HTTP/1.1').socket.pause();
    await until(() => connections.size === 3, { what: 'one that takes nothing' });
    await until(() => connections.size === 2, { what: 'its end' });
  }
  events?.write('data: 1\n\n');
  echo.socket.write('hello');
  await until(() => quiet.told().includes('data: 1') && echo.told().endsWith('hello'), { what: 'what comes at last' });
});

const CHUNKED = ['Content-Type: application/json', 'Transfer-Encoding: chunked'];

t.test('a request that goes on to a service has the time that it needs, and others have not', async t => {
  const { port } = await open(t, { requestMs: 300 }, (request, response) => {
    let bytes = 0;
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
    });
    request.once('end', () => response.end(bytes > 0 ? 'all of it' : 'nothing'));
  });
  const upload = dial(t, port, 'POST /ui/app/upload HTTP/1.1', ...CHUNKED);
  const own = dial(t, port, 'POST /api/own HTTP/1.1', ...CHUNKED);
  const sent = (): boolean => {
    for (const { socket } of [upload, own]) socket.write('1\r\nx\r\n');
    return own.socket.closed;
  };
  await until(sent, { what: 'the limit of own routes' });
  t.match(own.told(), /^HTTP\/1\.1 408 .*too long to arrive/s);
  upload.socket.write('0\r\n\r\n');
  await until(() => upload.told().includes('all of it'), { what: 'the answer to the upload' });
});

t.test('a request to a service that stops arriving is refused', async t => {
  const { port, connections } = await open(t, { unreadMs: 200 }, request => void request.resume());
  const halted = dial(t, port, 'POST /ui/app/upload HTTP/1.1', ...CHUNKED);
  halted.socket.write('1\r\nx\r\n');
  await once(halted.socket, 'close');
  t.match(halted.told(), /^HTTP\/1\.1 408 .*stopped arriving/s);
  await until(() => connections.size === 0, { what: 'the service to be left' });
});

t.test('the system asks whether a silent side is still there', async t => {
  const { port, connections } = await open(t, {}, (_request, response) => void response.writeHead(200).flushHeaders());
  const events = dial(t, port, 'GET /ui/app/events HTTP/1.1');
  const socket = dial(t, port, 'GET /ui/app/echo HTTP/1.1', ...UPGRADE);
  await until(() => events.told() !== '' && socket.told() !== '' && connections.size === 2, { what: 'both to begin' });
  const servicePorts = [...connections].map(({ localPort = 0 }) => localPort);
  const sides = async () => [...(await probed(port, 'local')), ...(await probed(servicePorts[0] ?? 0, 'remote'))];
  await until(async () => (await sides()).join() === 'true,true,true,true', { what: 'probes on both sides' });
});

async function openFiles(): Promise<string[]> {
  const names = await readdir('/proc/self/fd');
  return Promise.all(names.map(name => readlink(`/proc/self/fd/${name}`).catch(() => '')));
}

/** Whether each established connection of this port has the timer by which the kernel probes it. */
async function probed(port: number, end: 'local' | 'remote'): Promise<boolean[]> {
  const hex = port.toString(16).toUpperCase().padStart(4, '0');
  const lines = (await readFile('/proc/self/net/tcp', 'utf8')).split('\n').map(line => line.trim().split(/\s+/));
  return lines
    .filter(fields => fields[3] === '01' && fields[end === 'local' ? 1 : 2]?.endsWith(`:${hex}`))
    .map(fields => fields[5]?.startsWith('02:') === true);
}
