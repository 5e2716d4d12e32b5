// Requests and answers as clients see them: bodies, errors, access, origins, and the stop of a host.
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import path from 'node:path';
import { Readable } from 'node:stream';
import t, { type Test } from 'tap';
import { z } from 'zod';
import { Problem } from '../../../core/contract/problem.ts';
import { answer } from '../../../core/contract/route.ts';
import { queryInteger, queryList } from '../../../core/kit/query-values.ts';
import { testDir } from '../../support/directory.ts';
import { openEntrance, type TestEntrance, tokenAccess } from '../../support/entrance.ts';
import { until } from '../../support/until.ts';

const unauthorized = (detail: string) => new Problem(401, detail);

async function open(t: Test, options: Parameters<typeof openEntrance>[1] = {}): Promise<TestEntrance> {
  const entrance = await openEntrance(testDir(t), options);
  t.teardown(() => entrance.close());
  return entrance;
}

t.test('values, texts, bytes and streams are answered with their content type', async t => {
  const entrance = await open(t, { checkAnswers: true });
  const { http, request } = entrance;
  const get = (path: string, handle: () => unknown) =>
    http.addRoute('a', { method: 'GET', path, summary: path, handle });
  get('/value', () => ({ a: 1, b: undefined }));
  get('/nothing', () => undefined);
  get('/text', () => 'plain');
  get('/created', () => answer({ id: 1 }, { status: 201, headers: { 'X-Id': '1' } }));
  get('/html', () => answer('<p>', { headers: { 'Content-Type': 'text/html' } }));
  get('/bytes', () => answer(new Uint8Array([1, 2])));
  get('/empty', () => answer(undefined, { status: 204 }));
  get('/stream', () => answer(Readable.from(['a', 'b']), { headers: { 'Cache-Control': 'max-age=5' } }));
  get('/', () => 'root');

  t.same((await request('GET', '/value')).text, '{"a":1}');
  t.same((await request('GET', '/value/')).body, { a: 1 }, 'with a slash, without a redirect');
  t.equal((await request('GET', '/value/')).status, 200);
  t.equal((await request('GET', '/nothing')).body, null);
  t.equal((await request('GET', '/text')).body, 'plain', 'a bare text is JSON');
  t.equal((await request('GET', '/')).body, 'root');
  const created = await request('GET', '/created');
  t.match([created.status, created.headers.get('x-id')], [201, '1']);
  t.equal((await request('GET', '/html')).headers.get('content-type'), 'text/html');
  t.equal((await request('GET', '/bytes')).headers.get('content-type'), 'application/octet-stream');
  t.match(await request('GET', '/empty'), { status: 204, text: '' });
  const streamed = await request('GET', '/stream');
  t.match([streamed.text, streamed.headers.get('cache-control')], ['ab', 'max-age=5']);
  const head = await request('HEAD', '/value');
  t.match([head.status, head.text, head.headers.get('content-length')], [200, '', '7']);

  const plain = await request('GET', '/value?token=secret');
  t.equal(plain.headers.get('cache-control'), 'no-store');
  t.equal(plain.headers.get('x-content-type-options'), 'nosniff');
  t.equal(plain.headers.get('x-powered-by'), null);
  t.equal(plain.headers.get('etag'), null);
  t.equal(plain.headers.get('strict-transport-security'), null);
  await until(() => entrance.lines.some(line => /^DEBUG GET \/value 200/.test(line)));
  t.notOk(
    entrance.lines.some(line => line.includes('secret')),
    'no query in the access log',
  );
  t.ok(
    entrance.ran.every(plugin => plugin === 'a'),
    'handlers run as their plugin',
  );
  t.same(entrance.faults, []);
});

t.test('unknown paths, other methods and withdrawn routes are refused', async t => {
  const { http, request, faults } = await open(t);
  const withdraw = http.addRoute('a', { method: 'GET', path: '/x', summary: 'x', handle: () => 1 });
  http.addRoute('a', { method: 'POST', path: '/x', summary: 'x', handle: () => 2 });
  t.match(await request('GET', '/y'), { status: 404, body: { detail: 'Not found' } });
  const refused = await request('PUT', '/x');
  t.match([refused.status, refused.headers.get('allow')], [405, 'GET, HEAD, POST']);
  t.type(refused.body.detail, 'string');
  const options = await request('OPTIONS', '/x');
  t.match([options.status, options.headers.get('allow')], [204, 'GET, HEAD, POST, OPTIONS']);
  withdraw();
  t.equal((await request('GET', '/x')).status, 405);
  t.equal((await request('POST', '/x')).body, 2);
  t.throws(() => http.addRoute('b', { method: 'POST', path: '/x', summary: 'x', handle: () => 1 }), /of b .* by a/);
  t.same(faults, []);
});

t.test('a Problem is answered as it is, and other failures without details', async t => {
  const { http, request, faults } = await open(t, { checkAnswers: true });
  const get = (path: string, handle: () => unknown) =>
    http.addRoute('bad', { method: 'GET', path, summary: path, response: z.object({ a: z.number() }), handle });
  get('/problem', () => {
    throw new Problem(409, 'It runs\nalready', { extra: { process: 'x' }, headers: { 'Retry-After': '3' } });
  });
  get('/trace', () => {
    throw new Problem(400, new Error('deep').stack ?? '');
  });
  get('/throw', () => {
    throw new Error('password=hunter2', { cause: new Error('root') });
  });
  get('/reject', async () => Promise.reject(new TypeError('no')));
  get('/throw-text', () => {
    throw 'text';
  });
  get('/circular', () => {
    const loop: Record<string, unknown> = {};
    loop.self = loop;
    return answer(loop, { headers: { 'Content-Type': 'text/html' } });
  });
  get('/header', () => answer(1, { status: 202, headers: { 'X-Bad': 'a\nb' } }));
  get('/misfit', () => ({ a: 'x' }));

  const problem = await request('GET', '/problem');
  t.same(problem.body, { process: 'x', detail: 'It runs already' });
  t.match([problem.status, problem.headers.get('retry-after')], [409, '3']);
  t.equal((await request('GET', '/trace')).body.detail, 'Internal error');
  t.same(faults, [], 'expected failures are nobody’s fault');

  for (const path of ['/throw', '/reject', '/throw-text', '/circular', '/header', '/misfit']) {
    const { status, body, headers } = await request('GET', path);
    t.equal(status, 500, path);
    t.match(headers.get('content-type'), /^application\/json/);
    t.match(body.detail, /^Internal error \(id [0-9a-f]{8}\)$/);
    const fault = faults.at(-1);
    const id = /id (\w+)/.exec(body.detail)?.[1] ?? '';
    t.match(fault, { plugin: 'bad', place: 'route' });
    t.ok(fault?.error.message.includes(`GET ${path}`) && fault.error.message.includes(id), 'logged under the same id');
    t.ok(fault?.error.cause, 'with its cause');
  }
  t.equal(faults.length, 6);
});

t.test('the log names an answer that JSON cannot hold', async t => {
  for (const checkAnswers of [false, true]) {
    const { http, request, faults } = await open(t, { checkAnswers });
    const get = (path: string, handle: () => unknown) =>
      http.addRoute('bad', { method: 'GET', path, summary: path, response: z.unknown(), compress: true, handle });
    get('/function', () => () => 1);
    get('/symbol', () => answer(Symbol('one')));
    get('/nothing', () => ({ toJSON: () => undefined }));
    for (const [path, what] of [
      ['/function', 'a function'],
      ['/symbol', 'a symbol'],
      ['/nothing', 'an object whose toJSON gives nothing'],
    ] as const) {
      t.equal((await request('GET', path)).status, 500, path);
      const cause = faults.at(-1)?.error.cause as Error;
      t.equal(cause.message, `the route gives ${what}, which JSON cannot hold`);
    }
    t.equal(faults.length, 3);
  }
});

t.test('bodies are parsed, checked and limited', async t => {
  const { http, request, base, raw, faults } = await open(t);
  http.addRoute('a', {
    method: 'POST',
    path: '/echo',
    summary: 'echo',
    body: z.object({ name: z.string().optional(), list: z.array(z.int()).optional(), any: z.unknown().optional() }),
    bodyLimitBytes: 1000,
    handle: ({ body }) => body,
  });
  http.addRoute('a', { method: 'DELETE', path: '/bare', summary: 'bare', handle: ({ body }) => body ?? 'none' });
  http.addRoute('a', {
    method: 'POST',
    path: '/need',
    summary: 'need',
    body: z.object({ a: z.string(), b: z.number() }),
    handle: ({ body }) => body,
  });
  const post = (body: string | Uint8Array<ArrayBuffer> | undefined, type = 'application/json', path = '/echo') =>
    request('POST', path, {
      ...(body === undefined ? {} : { body }),
      headers: type === '' ? {} : { 'Content-Type': type },
    });

  t.same((await post('{"name":"x","extra":1}')).body, { name: 'x' });
  t.same((await post('{"name":"ö"}', 'application/json; charset=UTF-8')).body, { name: 'ö' });
  t.same((await post('\uFEFF{"name":"x"}')).body, { name: 'x' }, 'a byte order mark is no error');
  for (const type of ['', 'application/x-www-form-urlencoded', 'text/plain', 'application/json', 'nonsense']) {
    t.match(await post(undefined, type), { status: 200, body: {} }, `empty body as '${type}'`);
  }
  t.equal((await request('DELETE', '/bare')).body, 'none');

  const missing = await post('{"a":1}', 'application/json', '/need');
  t.equal(missing.status, 422);
  t.match(missing.body.detail, /^body\.a: .* \(and 1 more\)$/);
  t.match(missing.body.errors, [
    { loc: ['body', 'a'], msg: String, type: 'invalid_type' },
    { loc: ['body', 'b'], msg: String, type: 'invalid_type' },
  ]);
  t.equal((await post(undefined, '', '/need')).status, 422, 'an empty body lacks what is required');

  const nested = (levels: number) => `{"any":${'['.repeat(levels)}${']'.repeat(levels)}}`;
  const hostile: [string, string | Uint8Array<ArrayBuffer>, string, number][] = [
    ['not JSON', '{', 'application/json', 400],
    ['white space', '  ', 'application/json', 400],
    ['two values', '{}{}', 'application/json', 400],
    ['NaN', '{"any":NaN}', 'application/json', 400],
    ['invalid UTF-8', new Uint8Array([0x22, 0xff, 0x22]), 'application/json', 400],
    ['no media type', '{}', '', 415],
    ['form', 'a=1', 'application/x-www-form-urlencoded', 415],
    ['text', '{}', 'text/plain', 415],
    ['similar type', '{}', 'application/jsonx', 415],
    ['other charset', '{}', 'application/json; charset=utf-16', 415],
    ['too large', JSON.stringify({ name: 'x'.repeat(1001) }), 'application/json', 413],
    ['__proto__', '{"__proto__":{"a":1}}', 'application/json', 400],
    ['nested constructor', '{"any":[{"constructor":{}}]}', 'application/json', 400],
    ['prototype', '{"any":{"prototype":1}}', 'application/json', 400],
    ['array', '[]', 'application/json', 422],
    ['null', 'null', 'application/json', 422],
    ['text value', '"x"', 'application/json', 422],
    ['wrong member', '{"list":["1"]}', 'application/json', 422],
    ['deep', nested(400), 'application/json', 400],
  ];
  for (const [name, body, type, status] of hostile) {
    const refused = await post(typeof body === 'string' && type === '' ? new TextEncoder().encode(body) : body, type);
    t.equal(refused.status, status, name);
    t.type(refused.body.detail, 'string', `${name}: detail`);
  }
  t.equal((await post(nested(60))).status, 200, 'ordinary nesting is accepted');
  t.equal(({} as Record<string, unknown>).a, undefined);

  const large = await post('x'.repeat(5_000_000));
  t.match([large.status, large.headers.get('connection')], [413, 'close'], 'a client that still sends reads its 413');
  const gzip = await fetch(`${base}/echo`, {
    method: 'POST',
    body: 'x',
    headers: { 'Content-Type': 'application/json', 'Content-Encoding': 'gzip' },
  });
  t.equal(gzip.status, 415);
  const announced = await raw(
    'POST /echo HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 99999999999\r\n\r\n{',
  );
  t.match(announced, /^HTTP\/1\.1 413 /, 'refused by its length alone');
  const deepest = `${'['.repeat(500_000)}${']'.repeat(500_000)}`;
  const deep = await request('DELETE', '/bare', { body: deepest, headers: { 'Content-Type': 'application/json' } });
  t.equal(deep.status, 400, 'half a million levels');
  t.same(faults, []);
});

t.test('queries and path parameters are parsed and checked', async t => {
  const { http, request } = await open(t);
  http.addRoute('a', {
    method: 'GET',
    path: '/q',
    summary: 'q',
    query: z.object({ limit: queryInteger({ min: 1 }).default(10), names: queryList().default([]), must: z.string() }),
    handle: ({ query }) => query,
  });
  http.addRoute('a', { method: 'GET', path: '/u/{name}', summary: 'u', handle: ({ params }) => params });
  t.same((await request('GET', '/q?must=a+b&names%5B%5D=x&names%5B%5D=y&other=1')).body, {
    limit: 10,
    names: ['x', 'y'],
    must: 'a b',
  });
  t.match(
    (await request('GET', '/q?limit=1&limit=2&must=x&must=y&names=a,b&names=c')).body,
    { limit: 2, must: 'y', names: ['a', 'b', 'c'] },
    'of a repeated name the last value counts, and a list gets all',
  );
  t.match((await request('GET', '/q?must[]=x&limit[0]=3')).body, { limit: 3, must: 'x' });
  const bad = await request('GET', '/q?limit=secretvalue&must=x');
  t.equal(bad.status, 422);
  t.match(bad.body.errors, [{ loc: ['query', 'limit'] }]);
  t.notMatch(bad.text, /secretvalue/, 'the value is not repeated');
  t.equal((await request('GET', '/q')).status, 422);
  t.equal((await request('GET', '/q?must=1&__proto__=1')).status, 400);
  t.same((await request('GET', '/u/a%20b')).body, { name: 'a b' });
  t.match(await request('GET', '/u/%ff'), { status: 400, body: { detail: String } });
});

t.test('protected routes need a valid token, public ones do not', async t => {
  const entrance = await open(t);
  const { http, request } = entrance;
  http.addRoute('a', { method: 'POST', path: '/protected', summary: 'p', handle: ({ identity }) => identity.username });
  http.addRoute('a', {
    method: 'GET',
    path: '/public',
    summary: 'p',
    access: 'public',
    handle: ({ identity, trusted }) => [identity.username, trusted],
  });
  const as = (token: string) => ({ headers: { Authorization: `Bearer ${token}` } });
  t.equal((await request('POST', '/protected')).body, null, 'open while nothing checks and nobody is known');
  t.same((await request('GET', '/public')).body, [null, true]);

  entrance.access = tokenAccess(new Map([['good', 'ann']]), unauthorized);
  const refused = await request('POST', '/protected');
  t.match([refused.status, refused.headers.get('www-authenticate')], [401, 'Bearer']);
  t.same(refused.body, { detail: 'Authentication required' });
  t.match(await request('POST', '/protected', as('bad')), {
    status: 401,
    body: { detail: 'Invalid or expired token' },
  });
  t.equal((await request('POST', '/protected', as('good'))).body, 'ann');
  t.same((await request('GET', '/public')).body, [null, false]);
  t.same((await request('GET', '/public', as('bad'))).body, [null, false]);
  t.same((await request('GET', '/public', as('good'))).body, ['ann', true]);
  http.addRoute('a', { method: 'POST', path: '/knock', summary: 'k', access: 'public', handle: () => 'heard' });
  const body = JSON.stringify('x'.repeat(10_000));
  const knock = (token: string) =>
    request('POST', '/knock', { body, headers: { ...as(token).headers, 'Content-Type': 'application/json' } });
  t.match(await knock('bad'), { status: 413, body: { detail: 'The body is larger than 8192 bytes' } });
  t.equal((await knock('good')).body, 'heard');
  t.equal((await request('GET', '/unknown')).status, 404, 'unknown before unauthorised');
  t.equal((await request('GET', '/protected')).status, 405);

  entrance.access = {
    enabled: () => true,
    check: () => {
      throw new Error('broken');
    },
  };
  t.equal((await request('POST', '/protected', as('good'))).status, 503, 'a failing check fails closed');
  t.same((await request('GET', '/public')).body, [null, false]);
  t.same(entrance.faults, [], 'which is not the fault of the route');
});

t.test('users without a plugin that checks them close protected routes', async t => {
  for (const [text, closed] of [
    ['{"enabled":false,"users":[]}', false],
    ['{"enabled":true,"users":[]}', true],
    ['{"enabled":false}', true],
    ['{}', true],
    ['nonsense', true],
    ['null', true],
  ] as const) {
    await t.test(text, async t => {
      const entrance = await open(t);
      await writeFile(path.join(t.testdirName, 'users.json'), text);
      for (const access of ['protected', 'public'] as const) {
        const handle = ({ trusted }: { trusted: boolean }) => trusted;
        entrance.http.addRoute('a', { method: 'GET', path: `/${access}`, summary: 'p', access, handle });
      }
      const answered = await entrance.request('GET', '/protected');
      t.equal(answered.status, closed ? 503 : 200);
      if (closed) t.type(answered.body.detail, 'string');
      t.equal((await entrance.request('GET', '/public')).body, !closed);
      await writeFile(
        path.join(t.testdirName, 'users.json'),
        closed ? '{"enabled":false,"users":[]}' : '{"enabled":true}',
      );
      const changed = async () => (await entrance.request('GET', '/protected')).status === (closed ? 200 : 503);
      t.ok(await until(changed), 'noticed within a second or so');
    });
  }
});

t.test('changes from foreign origins are refused', async t => {
  const entrance = await open(t);
  const { http, request } = entrance;
  http.addRoute('a', { method: 'POST', path: '/x', summary: 'x', handle: () => 1 });
  http.addRoute('a', { method: 'GET', path: '/x', summary: 'x', handle: () => 1 });
  const allowed = async (origin: string) =>
    (await request('GET', '/x', { headers: { Origin: origin } })).headers.get('access-control-allow-origin');
  t.equal(await allowed('http://localhost'), 'http://localhost');
  t.equal(await allowed('http://localhost:8000'), 'http://localhost:8000');
  t.equal(await allowed('http://evil.example'), null);
  entrance.config = { dumb: { frontend: { origins: ['*', 'https://media.example/', 7] } } };
  t.equal(await allowed('https://media.example'), 'https://media.example');
  t.equal(await allowed('http://localhost'), null);
  t.equal(await allowed('*'), null);
  const written = ['HTTPS://Media.Example:443/console', 'http://box.example:80', 'chrome-extension://abcdef', 'no'];
  entrance.config = { dumb: { frontend: { origins: written } } };
  for (const origin of ['https://media.example', 'http://box.example', 'chrome-extension://abcdef'])
    t.equal(await allowed(origin), origin, 'as browsers send it, however it is written');
  t.equal(await allowed('http://media.example'), null);
  entrance.config = { dumb: { frontend: { origins: ['*'] } } };
  t.equal(await allowed('http://localhost'), 'http://localhost', 'the wildcard alone leaves the default');

  const preflight = await request('OPTIONS', '/x', {
    headers: { Origin: 'http://localhost', 'Access-Control-Request-Method': 'POST' },
  });
  t.equal(preflight.status, 204);
  t.match(preflight.headers.get('access-control-allow-headers'), /authorization/i);
  t.match(preflight.headers.get('access-control-allow-methods'), /POST/);
  t.equal(preflight.headers.get('allow'), 'GET, HEAD, POST, OPTIONS');
  const refused = await request('OPTIONS', '/x', {
    headers: { Origin: 'http://evil.example', 'Access-Control-Request-Method': 'POST' },
  });
  t.equal(refused.status, 400);
  t.equal(refused.headers.get('allow'), 'GET, HEAD, POST, OPTIONS');
  t.equal(refused.headers.get('access-control-allow-origin'), null);
  t.match(refused.body, { detail: /dumb\.frontend\.origins/ });

  const foreign = (method: string, origin: string) =>
    entrance.raw(
      `${method} /x HTTP/1.1\r\nHost: x\r\nConnection: close\r\nSec-Fetch-Site: cross-site\r\n` +
        `Origin: ${origin}\r\nContent-Length: 0\r\n\r\n`,
    );
  t.match(await foreign('POST', 'http://evil.example'), /^HTTP\/1\.1 403 [\s\S]*"detail"/);
  t.match(await foreign('GET', 'http://evil.example'), /^HTTP\/1\.1 200 /);
  t.match(await foreign('POST', 'http://localhost'), /^HTTP\/1\.1 200 /, 'an allowed origin may');
});

t.test('a host that stops refuses changes and still answers reads', async t => {
  const entrance = await open(t);
  const { http, request } = entrance;
  http.addRoute('a', { method: 'GET', path: '/gone', summary: 'x', handle: () => 1 })();
  http.addRoute('a', { method: 'GET', path: '/x', summary: 'x', handle: () => 1 });
  http.addRoute('a', { method: 'POST', path: '/x', summary: 'x', handle: () => 1 });
  http.addRoute('a', { method: 'POST', path: '/look', summary: 'x', changesNothing: true, handle: () => 1 });
  entrance.stopping = true;
  t.equal((await request('GET', '/gone')).status, 503, 'one that was withdrawn is not unknown');
  t.equal((await request('GET', '/x')).status, 200);
  t.equal((await request('POST', '/look')).status, 200);
  t.match(await request('POST', '/x'), { status: 503, body: { detail: 'The service is shutting down' } });
});

t.test('only the signal of a request shows that its client has disconnected', async t => {
  const { http, base, faults } = await open(t);
  let aborted = 0;
  let started = 0;
  let finish = () => {};
  http.addRoute('a', {
    method: 'GET',
    path: '/slow',
    summary: 'slow',
    handle: ({ signal }) =>
      new Promise(resolve => {
        started += 1;
        finish = () => resolve('late');
        signal.addEventListener('abort', () => {
          aborted += 1;
        });
      }),
  });
  const leave = new AbortController();
  const lost = fetch(`${base}/slow`, { signal: leave.signal }).catch(() => 'gone');
  await until(() => started === 1);
  leave.abort();
  t.equal(await lost, 'gone');
  await until(() => aborted === 1);
  finish();
  const whole = fetch(`${base}/slow`);
  await until(() => started === 2);
  finish();
  t.equal(await (await whole).json(), 'late');
  t.equal(aborted, 1);
  t.same(faults, []);
});

t.test('the source of an answer ends when its client disconnects', async t => {
  const { http, port, faults } = await open(t);
  const leave = async (source: Readable): Promise<void> => {
    const withdraw = http.addRoute('a', { method: 'GET', path: '/x', summary: 'x', handle: () => answer(source) });
    const socket = connect(port, '127.0.0.1');
    socket.write('GET /x HTTP/1.1\r\nHost: x\r\n\r\n');
    source.push('begun');
    await once(socket, 'data');
    socket.destroy();
    withdraw();
  };
  const quiet = new Readable({ read: () => undefined });
  await leave(quiet);
  await until(() => quiet.closed, { timeoutMs: 5_000, what: 'the source to be closed' });
  t.same(faults, [], 'it has neither failed nor stopped');

  const stubborn = new Readable({ read: () => undefined });
  stubborn.destroy = () => {
    throw new Error('no');
  };
  await leave(stubborn);
  await until(() => faults.length > 0, { timeoutMs: 5_000, what: 'the fault' });
  t.match(faults, [{ place: 'route', error: { message: 'no' } }]);
  Readable.prototype.destroy.call(stubborn);
});

t.test('pieces of an answer that are neither text nor bytes are a fault of the plugin', async t => {
  const { http, raw, faults } = await open(t);
  const handle = () => answer(Readable.from(['begun', { a: 1 }]));
  http.addRoute('a', { method: 'GET', path: '/x', summary: 'x', handle });
  t.match(await raw('GET /x HTTP/1.1\r\nHost: x\r\n\r\n'), /begun\r\n$/, 'the answer is cut');
  t.match(faults, [{ place: 'route', error: { message: 'it gives a piece that is neither text nor bytes: object' } }]);
});

t.test('a stream that is not a Node stream is refused', async t => {
  const { http, request, faults } = await open(t);
  const given: Record<string, () => unknown> = {
    '/web': () => new ReadableStream(),
    '/generator': () =>
      (async function* () {
        yield 'piece';
      })(),
    '/answer': () => answer(new ReadableStream() as never),
  };
  for (const [path, handle] of Object.entries(given)) {
    http.addRoute('a', { method: 'GET', path, summary: path, handle });
    t.equal((await request('GET', path)).status, 500, path);
  }
  const causes = faults.map(({ error }) => String((error as Error).cause));
  t.match(causes, Array(3).fill(/Readable\.from/));
});
