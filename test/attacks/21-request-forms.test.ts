// Requests in the rarer forms that the protocol allows are served like others, and those that it forbids are told what
// is wrong with them.
import t from 'tap';
import { testDir } from '../support/directory.ts';
import { openEntrance } from '../support/entrance.ts';
import { raw } from '../support/raw-http.ts';

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

  t.match(await upgrade('/ws/a', 'Host: nas'), /^HTTP\/1\.1 101/);
  t.match(await upgrade('/ws/a/', 'Host: nas'), /^HTTP\/1\.1 101/, 'with a slash');
  t.match(await upgrade('/ws/a/?b=1', 'Host: nas'), /^HTTP\/1\.1 101/);
  t.match(await upgrade('http://nas/ws/a', 'Host: nas'), /^HTTP\/1\.1 101/, 'a whole address');
  t.match(await upgrade('/ws/a//', 'Host: nas'), /^HTTP\/1\.1 404/);
});
