// The OpenAPI document contains everything that is registered, and all its references resolve.
import t from 'tap';
import { z } from 'zod';
import { queryInteger, queryList } from '../../../core/kit/query-values.ts';
import { testDir } from '../../support/directory.ts';
import { openEntrance } from '../../support/entrance.ts';

t.test('the document describes routes, streams, schemas and access', async t => {
  const entrance = await openEntrance(testDir(t), {});
  t.teardown(() => entrance.close());
  const { http } = entrance;
  const tree: z.ZodType = z.object({
    name: z.string(),
    get children() {
      return z.array(tree).optional();
    },
  });
  const withdraw = http.addRoute('a', {
    method: 'POST',
    path: '/things/{id}',
    summary: 'Changes a thing',
    query: z.object({ on: z.stringbool().optional(), limit: queryInteger({ min: 1 }).default(5), names: queryList() }),
    body: z.object({ a: z.string() }),
    response: tree,
    handle: () => null,
  });
  http.addRoute('a', {
    method: 'GET',
    path: '/open/{f...}',
    summary: 'o',
    access: 'public',
    tag: 'T',
    handle: () => 1,
  });
  http.addRoute('a', {
    method: 'GET',
    path: '/text',
    summary: 't',
    response: z.string(),
    mediaTypes: ['text/plain', 'text/csv'],
    handle: () => '',
  });
  const optional = z.object({ a: z.string().optional() });
  http.addRoute('a', { method: 'POST', path: '/things', summary: 't', body: optional, handle: () => null });
  http.addRoute('a', { method: 'POST', path: '/trees', summary: 't', body: tree, handle: () => null });
  http.addRoute('a', { method: 'GET', path: '/hidden', summary: 'h', hidden: true, handle: () => 1 });
  http.addStream('a', { path: '/ws/x', summary: 'Sends x', open: () => {} });
  // biome-ignore lint/suspicious/noExplicitAny: a document of many shapes
  const document = http.openapi() as any;
  t.match(document, { openapi: '3.1.0', info: { version: '1.2.3', description: /\/ws\/x.*Sends x/ } });
  t.match(document.components.securitySchemes.bearer, { type: 'http', scheme: 'bearer' });
  t.same(Object.keys(document.paths), ['/open/{f}', '/text', '/things', '/things/{id}', '/trees']);
  const operation = document.paths['/things/{id}'].post;
  t.match(operation, { summary: 'Changes a thing', tags: ['a'] });
  t.match(
    operation.parameters.map((parameter: { name: string; in: string; required: boolean }) => [
      parameter.name,
      parameter.in,
      parameter.required,
    ]),
    [
      ['id', 'path', true],
      ['on', 'query', false],
      ['limit', 'query', false],
      ['names', 'query', true],
    ],
  );
  t.match(operation.parameters[2].schema, { type: 'integer', minimum: 1, default: 5 });
  t.match(operation.parameters[3].schema, { type: 'array', items: { type: 'string' } });
  t.match(operation.requestBody.content['application/json'].schema, { type: 'object', required: ['a'] });
  t.equal(operation.requestBody.required, true);
  t.match(document.paths['/things'].post.requestBody, { required: false }, 'an empty body is an empty object');
  t.equal(document.paths['/trees'].post.requestBody.required, true, 'also of a schema that is referred to');
  const text = document.paths['/text'].get.responses[200].content;
  t.same(Object.keys(text), ['text/plain', 'text/csv']);
  const references = [...JSON.stringify(document).matchAll(/"\$ref":"#\/([^"]+)"/g)].map(
    ([, pointer]) => pointer ?? '',
  );
  t.ok(references.length > 2);
  for (const pointer of references) {
    const found = pointer.split('/').reduce((value, key) => value?.[key], document);
    t.ok(found, `#/${pointer} exists`);
  }
  t.match(document.paths['/open/{f}'].get, { security: [], tags: ['T'] });
  t.equal(http.openapi(), document, 'made once');
  withdraw();
  t.same(Object.keys((http.openapi() as typeof document).paths), ['/open/{f}', '/text', '/things', '/trees']);
});
