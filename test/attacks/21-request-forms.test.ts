// Requests in the rarer forms that the protocol allows are served like others, and those that it forbids are told what
// is wrong with them.
import { connect } from 'node:net';
import { Readable } from 'node:stream';
import t from 'tap';
import { Answer } from '../../core/contract/route.ts';
import { testDir } from '../support/directory.ts';
import { openEntrance } from '../support/entrance.ts';
import { raw } from '../support/raw-http.ts';
import { until } from '../support/until.ts';

const UPGRADE = [
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==',
];

t.test('forms of requests', async t => {
  const entrance = await openEntrance(testDir(t));
  t.teardown(() => entrance.close());
  entrance.http.addRoute('a', { method: 'GET', path: '/x', summary: 'x', handle: () => 'here' });
  entrance.http.addRoute('a', { method: 'GET', path: '/', summary: 'root', handle: () => 'root' });
  entrance.http.addRoute('a', { method: 'POST', path: '/x', summary: 'x', handle: () => 'here' });
  entrance.http.addStream('a', { path: '/ws/a', summary: 'a', open: client => void client.close(1000, 'served') });
  const send = async (...lines: readonly string[]) => (await raw(entrance.port, [...lines, 'Connection: close'])).text;
  const coded = async (codings: string) => {
    const lines = ['POST /x HTTP/1.1', 'Host: nas', 'Connection: close', `Transfer-Encoding: ${codings}`, '', '0'];
    return (await raw(entrance.port, lines)).text;
  };
  const upgrade = async (path: string, ...more: readonly string[]) =>
    (await raw(entrance.port, [`GET ${path} HTTP/1.1`, ...more, ...UPGRADE])).text;

  t.match(await send('GET http://nas/x HTTP/1.1', 'Host: nas'), /200 OK.*"here"/s, 'a whole address');
  t.match(await send('GET HTTP://nas:80/x?a=1 HTTP/1.1', 'Host: other'), /200 OK.*"here"/s);
  t.match(await send('GET http://nas HTTP/1.1', 'Host: nas'), /200 OK.*"root"/s);
  t.match(await send('GET http:///x HTTP/1.1', 'Host: nas'), /400 Bad Request.*"detail":".*names no host"/s);
  t.match(await send('GET http://user@nas/x HTTP/1.1', 'Host: nas'), /400 Bad Request.*"detail"/s);

  t.match(await send('GET /x HTTP/1.1'), /400 Bad Request.*"detail":"The request has no Host header; send one"/s);
  t.match(await send('GET /x HTTP/1.1', 'Host: a', 'host: b'), /400 Bad Request.*"detail":".*more than one Host/s);
  t.match(await upgrade('/ws/a'), /400 Bad Request.*"detail":"The request has no Host header/s, 'an upgrade as well');

  t.match(await coded('chunked'), /200 OK.*"here"/s);
  t.match(await coded('identity, Chunked'), /200 OK.*"here"/s);
  t.match(await coded('gzip, chunked'), /^HTTP\/1\.1 501 .*"detail":".*send the body without it"/s);

  t.match(await upgrade('/ws/a', 'Host: nas'), /^HTTP\/1\.1 101/);
  t.match(await upgrade('/ws/a/', 'Host: nas'), /^HTTP\/1\.1 101/, 'with a slash');
  t.match(await upgrade('/ws/a/?b=1', 'Host: nas'), /^HTTP\/1\.1 101/);
  t.match(await upgrade('http://nas/ws/a', 'Host: nas'), /^HTTP\/1\.1 101/, 'a whole address');
  t.match(await upgrade('/ws/a//', 'Host: nas'), /^HTTP\/1\.1 404/);
});

t.test('what is no request is refused after the answers to those before it, and never within one', async t => {
  const entrance = await openEntrance(testDir(t));
  t.teardown(() => entrance.close());
  let changes = 0;
  let give: (value: unknown) => void = () => undefined;
  entrance.http.addRoute('a', {
    method: 'POST',
    path: '/change',
    summary: 'c',
    handle: () => {
      changes += 1;
      return new Promise(resolve => {
        give = resolve;
      });
    },
  });
  entrance.http.addRoute('a', {
    method: 'GET',
    path: '/parts',
    summary: 'p',
    handle: () => new Answer(parts, 200, { 'Content-Type': 'text/plain' }),
  });
  const parts = new Readable({ read: () => undefined });
  const open = (text: string) => {
    const socket = connect(entrance.port, '127.0.0.1');
    t.teardown(() => socket.destroy());
    const client = { socket, received: '', isClosed: false };
    socket.setEncoding('latin1').on('data', (chunk: string) => {
      client.received += chunk;
    });
    socket.on('error', () => undefined);
    socket.once('close', () => {
      client.isClosed = true;
    });
    socket.write(text);
    return client;
  };
  const post = 'POST /change HTTP/1.1\r\nHost: nas\r\n\r\n';
  const garbage = 'NONSENSE\r\n\r\n';

  const one = open(`${post}${garbage}`);
  await until(() => changes === 1);
  one.socket.write(garbage);
  give('first');
  await until(() => one.isClosed);
  t.match(one.received, /^HTTP\/1\.1 200 OK.*"first"HTTP\/1\.1 400 .*not valid HTTP/s);

  const two = open(`${post}${post}POST /change HTTP/1.1\r\nHost: nas\r\nTransfer-Encoding: chunked\r\n\r\nzz`);
  await until(() => changes === 2);
  give('second');
  await until(() => changes === 3);
  give('third');
  await until(() => two.isClosed);
  t.match(two.received, /^HTTP\/1\.1 200 OK.*"second"HTTP\/1\.1 200 OK.*"third"HTTP\/1\.1 400 .*not valid HTTP/s);
  t.equal(changes, 3, 'one whose body is spoilt is not handled');

  const streamed = open('GET /parts HTTP/1.1\r\nHost: nas\r\n\r\n');
  parts.push('begun');
  await until(() => streamed.received.includes('begun'));
  streamed.socket.write(garbage);
  const known = await raw(entrance.port, ['GET /other HTTP/1.1', 'Host: nas', 'Connection: close']);
  t.equal(known.status, 404, 'what came in before has been read');
  parts.push('ended');
  parts.push(null);
  await until(() => streamed.isClosed);
  t.match(streamed.received, /5\r\nbegun\r\n5\r\nended\r\n0\r\n\r\nHTTP\/1\.1 400 .*not valid HTTP/s);
});

t.test('expectations that nobody knows are not met, and not answered out of turn', async t => {
  const entrance = await openEntrance(testDir(t));
  t.teardown(() => entrance.close());
  entrance.http.addRoute('a', { method: 'GET', path: '/x', summary: 'x', handle: () => 'here' });
  const { text } = await raw(entrance.port, ['GET /x HTTP/1.1', 'Host: nas', 'Expect: more', 'Connection: close']);
  t.match(text, /^HTTP\/1\.1 200 OK.*"here"$/s);
});
