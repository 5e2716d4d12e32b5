// Connections as clients see them: invalid HTTP, idle connections, other protocols, a port in use, and the end of a
// host.
import { once } from 'node:events';
import { connect } from 'node:net';
import t, { type Test } from 'tap';
import { z } from 'zod';
import { testDir } from '../../support/directory.ts';
import { openEntrance, type TestEntrance } from '../../support/entrance.ts';
import { until } from '../../support/until.ts';

async function open(t: Test, options: Parameters<typeof openEntrance>[1] = {}): Promise<TestEntrance> {
  const entrance = await openEntrance(testDir(t), options);
  t.teardown(() => entrance.close());
  return entrance;
}

t.test('invalid HTTP and headers above 64 KiB are refused', async t => {
  const { http, raw } = await open(t);
  http.addRoute('a', { method: 'GET', path: '/x', summary: 'x', handle: () => 1 });
  t.match(await raw('nonsense\r\n\r\n'), /^HTTP\/1\.1 400 [\s\S]*\{"detail":/);
  const headers = (bytes: number) =>
    `GET /x HTTP/1.1\r\nHost: x\r\nConnection: close\r\nX: ${'y'.repeat(bytes)}\r\n\r\n`;
  t.match(await raw(headers(60_000)), /^HTTP\/1\.1 200 /, 'cookies of embedded services fit');
  t.match(await raw(headers(70_000)), /^HTTP\/1\.1 431 [\s\S]*\{"detail":/);
});

t.test('a connection is idle after its answer, also with an unread body', async t => {
  const { http, port } = await open(t);
  http.addRoute('a', { method: 'GET', path: '/x', summary: 'x', handle: () => 1 });
  for (const [first, status] of [
    ['GET /x', 200],
    ['POST /nowhere', 404],
  ] as const) {
    const socket = connect(port, '127.0.0.1');
    t.teardown(() => socket.destroy());
    socket.write(`${first} HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}`);
    const [answer] = await once(socket, 'data');
    t.match(String(answer), new RegExp(`^HTTP/1.1 ${status} `));
    let isClosed = false;
    socket.once('close', () => {
      isClosed = true;
    });
    http.closeIdleConnections();
    await until(() => isClosed, { timeoutMs: 5_000, what: `the connection of ${first} to be closed` });
  }
});

t.test('offers of other protocols are ignored', async t => {
  const entrance = await open(t);
  entrance.http.addRoute('a', { method: 'GET', path: '/x', summary: 'x', handle: () => 'got' });
  const body = z.object({ word: z.string() });
  entrance.http.addRoute('a', { method: 'POST', path: '/x', summary: 'x', body, handle: ({ body }) => body });
  const offer = (first: string, ...more: string[]) =>
    [
      first,
      'Host: x',
      'Connection: Upgrade, HTTP2-Settings',
      'Upgrade: h2c',
      'HTTP2-Settings: AAQ',
      ...more,
      '',
      '',
    ].join('\r\n');
  const json = 'Content-Type: application/json';
  for (const [text, told] of [
    [offer('GET /x HTTP/1.1'), '"got"'],
    [`${offer('POST /x HTTP/1.1', json, 'Content-Length: 14')}{"word":"one"}`, '{"word":"one"}'],
    [
      `${offer('POST /x HTTP/1.1', json, 'Transfer-Encoding: chunked')}e\r\n{"word":"two"}\r\n0\r\n\r\n`,
      '{"word":"two"}',
    ],
  ] as const) {
    const answer = await entrance.raw(`${text}GET /lost HTTP/1.1\r\nHost: x\r\n\r\n`);
    t.match(answer, /^HTTP\/1\.1 200 /);
    t.match(answer, /\r\nConnection: close\r\n/i, 'what follows an offer may be lost, and is not waited for');
    t.ok(answer.endsWith(`\r\n\r\n${told}`), told);
  }
  t.match(await entrance.raw('CONNECT x:443 HTTP/1.1\r\nHost: x\r\n\r\n'), /^$/, 'no tunnel');
});

t.test('the error for a port in use names its holder', async t => {
  const first = await open(t);
  const second = await openEntrance(testDir(t));
  await second.close();
  const wish = { host: '127.0.0.1', port: first.port, request: () => {}, upgrade: () => {} };
  await t.rejects(second.http.open(wish), {
    message: new RegExp(
      `^Cannot listen on 127.0.0.1:${first.port}: the port is in use by \\S+ \\(pid ${process.pid}\\)$`,
    ),
    code: 'EADDRINUSE',
  });
  const waiting = second.http.open({ ...wish, retryMs: 60_000 });
  await first.close();
  const listener = await waiting;
  t.equal(listener.port, first.port, 'taken over as soon as it is free');
  await listener.close(0);
  await t.rejects(second.http.open({ ...wish, host: '192.0.2.1' }), /does not have that address/);
});

t.test('close lets requests end, then disconnects', async t => {
  const entrance = await openEntrance(testDir(t));
  const { http, base } = entrance;
  const held: (() => void)[] = [];
  const handle = () => new Promise<string>(resolve => held.push(() => resolve('done')));
  http.addRoute('a', { method: 'GET', path: '/slow', summary: 'slow', handle });
  const whole = fetch(`${base}/slow`).then(answered => answered.json());
  await until(() => held.length === 1);
  const closed = http.close(60_000);
  await until(() =>
    fetch(base).then(
      () => false,
      () => true,
    ),
  );
  held[0]?.();
  t.equal(await whole, 'done');
  await closed;

  const cutter = await openEntrance(testDir(t));
  cutter.http.addRoute('a', { method: 'GET', path: '/slow', summary: 'slow', handle });
  const lost = fetch(`${cutter.base}/slow`).catch(() => 'cut');
  await until(() => held.length === 2);
  await cutter.http.close(0);
  t.equal(await lost, 'cut');
});
