// The route map and the parsing of queries, by cases and by law.
import t from 'tap';
import { z } from 'zod';
import { Problem } from '../../../core/contract/problem.ts';
import type { HttpMethod, Route } from '../../../core/contract/route.ts';
import { parseQuery } from '../../../core/http/query.ts';
import { RouteMap } from '../../../core/http/route-map.ts';
import { queryBoolean, queryInteger, queryList, queryNumber } from '../../../core/kit/query-values.ts';
import { testOwner } from '../../support/owner.ts';

const route = (method: HttpMethod, path: string): Route => ({ method, path, summary: path, handle: () => path });

function refusal(run: () => unknown): number | undefined {
  try {
    run();
    return undefined;
  } catch (error) {
    return error instanceof Problem ? error.status : undefined;
  }
}

function found(routes: RouteMap, method: string, path: string): unknown {
  const match = routes.find(method, path);
  return match !== undefined && 'owned' in match ? [match.owned.route.path, { ...match.params }] : match;
}

t.test('a path finds its route, with parameters', async t => {
  const routes = new RouteMap();
  for (const path of ['/', '/process', '/users/{name}', '/users/me', '/users/{name}/keys/{key}', '/docs/{file...}']) {
    routes.add(testOwner('a'), route('GET', path));
  }
  routes.add(testOwner('a'), route('POST', '/process'));

  t.same(found(routes, 'GET', '/'), ['/', {}]);
  t.same(found(routes, 'GET', '/process'), ['/process', {}]);
  t.same(found(routes, 'GET', '/process/'), ['/process', {}], 'both slash forms');
  t.equal(found(routes, 'GET', '/process//'), undefined, 'only one slash');
  t.same(found(routes, 'GET', '/users/me'), ['/users/me', {}], 'a constant goes first');
  t.same(found(routes, 'GET', '/users/J%C3%B6%2Frg/'), ['/users/{name}', { name: 'Jö/rg' }]);
  t.same(found(routes, 'GET', '/users/a/keys/b'), ['/users/{name}/keys/{key}', { name: 'a', key: 'b' }]);
  t.same(found(routes, 'GET', '/docs/a/b.js'), ['/docs/{file...}', { file: 'a/b.js' }]);
  t.equal(found(routes, 'GET', '/docs'), undefined, 'a rest is never empty');
  t.equal(found(routes, 'GET', '/users//keys/b'), undefined);
  t.same(found(routes, 'HEAD', '/process'), ['/process', {}], 'HEAD is served by GET');
  t.same(found(routes, 'PUT', '/process'), ['GET', 'HEAD', 'POST']);
  t.same(found(routes, 'PUT', '/users/me'), ['GET', 'HEAD']);
  t.equal(
    refusal(() => routes.find('GET', '/users/%zz')),
    400,
  );
  t.equal(
    refusal(() => routes.find('GET', '/users/%00')),
    400,
  );
  t.equal(found(routes, 'GET', '/__proto__'), undefined);

  t.throws(() => routes.add(testOwner('b'), route('GET', '/process')), { message: /GET \/process of b .* by a/ });
  t.throws(() => routes.add(testOwner('b'), route('GET', '/users/{other}')), { message: /of b .* by a/ }, 'same shape');
  for (const path of ['', 'x', '/x/', '/x?y', '/a b', '/{a}{b}', '/{a...}/b', '/x{a}']) {
    t.throws(() => routes.add(testOwner('b'), route('GET', path)), `'${path}' is refused`);
  }

  const withdraw = routes.add(testOwner('b'), route('DELETE', '/users/{name}'));
  t.same(found(routes, 'DELETE', '/users/x'), ['/users/{name}', { name: 'x' }]);
  withdraw();
  withdraw();
  t.same(found(routes, 'DELETE', '/users/x'), ['GET', 'HEAD'], 'withdrawn, its neighbours stay');
  const again = routes.add(testOwner('c'), route('DELETE', '/users/{name}'));
  withdraw();
  t.same(found(routes, 'DELETE', '/users/x'), ['/users/{name}', { name: 'x' }], 'an old disposer leaves others alone');
  again();
  t.same(
    routes.all().map(({ route }) => `${route.method} ${route.path}`),
    [
      'GET /',
      'GET /docs/{file...}',
      'GET /process',
      'POST /process',
      'GET /users/me',
      'GET /users/{name}',
      'GET /users/{name}/keys/{key}',
    ],
  );
});

t.test('the more specific pattern wins, whatever the order of registration', async t => {
  const routes = new RouteMap();
  for (const path of ['/{rest...}', '/{a}/{b}', '/{a}/x', '/k/{b}', '/k/{rest...}'])
    routes.add(testOwner('a'), route('GET', path));
  const winner = (path: string) => (found(routes, 'GET', path) as [string])[0];
  t.equal(winner('/k/x'), '/k/{b}');
  t.equal(winner('/k/x/y'), '/k/{rest...}');
  t.equal(winner('/j/x'), '/{a}/x');
  t.equal(winner('/j/y'), '/{a}/{b}');
  t.equal(winner('/j/y/z'), '/{rest...}');
});

t.test('query strings are parsed', async t => {
  const schema = z.object({ s: queryList().optional(), a: z.string().optional() });
  const parsed = (text: string) => ({ ...parseQuery(text, schema) });
  t.same(parsed(''), {});
  t.same(parsed('a=DUMB+API&b=%2B%20&c'), { a: 'DUMB API', b: '+ ', c: '' });
  t.same(parsed('s%5B%5D=a&s%5B%5D=b'), { s: ['a', 'b'] });
  t.same(parsed('s[0]=a&s[1]=b'), { s: ['a', 'b'] });
  t.same(parsed('s=a&s=b&s=c'), { s: ['a', 'b', 'c'] });
  t.same(parsed('s[]=a&s=b'), { s: ['a', 'b'] });
  t.same(parsed('a=1&a=2&a[]=3&b=1&b=2'), { a: '3', b: '2' }, 'no list is wanted');
  t.same(parsed('a=%zz&b=%ff'), { a: '%zz', b: '�' }, 'malformed escapes never throw');
  for (const key of ['__proto__', 'constructor', 'prototype', '__proto__[]', '__proto__%5B0%5D']) {
    t.equal(
      refusal(() => parsed(`${key}=1`)),
      400,
      key,
    );
  }
  t.equal(({} as Record<string, unknown>)['1'], undefined);
});

t.test('query values are converted to the types of their schema', async t => {
  const schema = z.object({
    on: queryBoolean().default(false),
    count: queryInteger({ min: 1, max: 100 }).optional(),
    ratio: queryNumber({ min: 0 }).optional(),
    names: queryList().default([]),
  });
  const read = (text: string) => schema.safeParse(parseQuery(text, schema));
  for (const text of ['1', 'true', 'YES', 'On']) t.match(read(`on=${text}`), { data: { on: true } }, text);
  for (const text of ['0', 'false', 'NO', 'Off']) t.match(read(`on=${text}`), { data: { on: false } }, text);
  for (const text of ['', '2', 'ja', 'true+', 'null']) t.equal(read(`on=${text}`).success, false, `on=${text}`);
  t.match(read('count=7'), { data: { count: 7, on: false, names: [] } });
  for (const text of ['', '0', '101', '1.5', '1e1', '0x10', 'NaN', '9999999999999999', '+', '7%0a']) {
    t.equal(read(`count=${encodeURIComponent(text)}`).success, false, `count=${text}`);
  }
  t.match(read('count=1.5').error?.issues, [{ path: ['count'], expected: 'int' }], 'what is wrong is the fraction');
  t.match(read('ratio=0.5'), { data: { ratio: 0.5 } });
  for (const text of ['', '-1', 'Infinity', 'NaN', '1e999', '.', '1,5']) {
    t.equal(read(`ratio=${text}`).success, false, `ratio=${text}`);
  }
  t.match(read('names=a,b'), { data: { names: ['a', 'b'] } });
  t.match(read('names[]=a+x&names[]=b,c'), { data: { names: ['a x', 'b', 'c'] } });
  t.same(read('names=').data?.names, []);
  t.equal(read('count=1&count=2').data?.count, 2, 'of a repeated scalar the last counts');
});
