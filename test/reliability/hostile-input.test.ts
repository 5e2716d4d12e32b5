// Bad input: every route that the running host describes is fed what no client should send. Always a 4xx, nothing
// changed.
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { startHost } from '../support/host.ts';

interface Operation {
  readonly method: string;
  readonly path: string;
  readonly query: readonly string[];
  readonly takesBody: boolean;
  /** Members of the body that the description names, and whether it can do without. */
  readonly members: readonly string[];
  readonly needsMembers: boolean;
}

interface Described {
  readonly requestBody?: {
    readonly content: Record<
      string,
      { readonly schema: { readonly properties?: object; readonly required?: string[] } }
    >;
  };
  readonly parameters?: readonly { readonly in: string; readonly name: string }[];
}

/** A body whose members a route does not have is an empty one to it. */
function isEmptyTo({ members, needsMembers }: Operation, body: string | Buffer): boolean {
  try {
    const value: unknown = JSON.parse(String(body));
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isObject && !needsMembers && !Object.keys(value).some(key => members.includes(key));
  } catch {
    return false;
  }
}

const DEEP = `${'{"a":'.repeat(2_000)}1${'}'.repeat(2_000)}`;

const bodies: Record<string, string | Buffer> = {
  'text that is no JSON': '{"updates":',
  'a bare word': 'nonsense',
  'an array': '[]',
  'a number': '42',
  null: 'null',
  'wrong types': JSON.stringify({
    process_name: { a: 1 },
    updates: 'x',
    persist: 'maybe',
    debug_enabled: 'yes',
    enabled: 'maybe',
    core_services: 7,
    optional_services: {},
  }),
  'unknown services': JSON.stringify({ core_services: [{ name: '../../etc' }], optional_services: ['__proto__'] }),
  'prototype keys as options':
    '{"core_services":{"name":"sonarr","instance_name":5,"service_options":{"__proto__":{"polluted":true}}}}',
  'an unknown name': JSON.stringify({ process_name: 'no such process', updates: { a: 1 } }),
  'a blank name': JSON.stringify({ process_name: '   ', updates: { a: 1 } }),
  'a path as a name': JSON.stringify({ process_name: '../../etc/passwd', updates: { a: 1 } }),
  'a NUL in a name': JSON.stringify({ process_name: 'a\u0000b', updates: { a: 1 } }),
  'a very long name': JSON.stringify({ process_name: 'x'.repeat(500_000), updates: { a: 1 } }),
  'prototype keys':
    '{"process_name":"Sleeper","updates":{"__proto__":{"polluted":true}},"__proto__":{"polluted":true}}',
  'constructor keys': '{"process_name":"Sleeper","updates":{"constructor":{"prototype":{"polluted":true}}}}',
  'deep nesting': `{"process_name":"x","updates":${DEEP}}`,
  'invalid UTF-8': Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d]),
};

const queries = [
  'process_name=',
  'process_name=%20',
  'process_name=no+such+process',
  'process_name=../../etc/passwd',
  'process_name=%00',
  'process_name[]=a&process_name[]=b',
  'process_name=a&process_name=b',
  'process_name[__proto__]=a',
  `process_name=${'x'.repeat(8_000)}`,
  'process_name=%ff%fe',
  'process_name=Sleeper&scope=everything',
  'process_name=Sleeper&include_health=perhaps',
  'process_name=Sleeper&cursor=-1',
  'process_name=Sleeper&tail_bytes=12',
  'process_name=Sleeper&tail_bytes=1e99',
];

t.test('bodies and queries', { timeout: 240_000 }, async t => {
  const app = await startHost({
    plugins: 'offline',
    config: { sleeper: { enabled: false, process_name: 'Sleeper', command: ['sleep', '600'] } },
  });
  t.teardown(() => app.stop());
  const file = path.join(app.configDir, 'stackwarden.json');
  const before = await readFile(file, 'utf8');
  const { paths } = (await app.get('/openapi.json')).body as {
    paths: Record<string, Record<string, Described>>;
  };
  const operations: Operation[] = Object.entries(paths).flatMap(([route, item]) =>
    Object.entries(item).map(([method, operation]) => {
      const schema = operation.requestBody?.content['application/json']?.schema;
      return {
        method: method.toUpperCase(),
        path: route.replaceAll(/\{[^}]+\}/g, 'x'),
        query: (operation.parameters ?? [])
          .filter(parameter => parameter.in === 'query')
          .map(parameter => parameter.name),
        takesBody: operation.requestBody !== undefined,
        members: Object.keys(schema?.properties ?? {}),
        needsMembers: (schema?.required ?? []).length > 0,
      };
    }),
  );
  t.ok(operations.length >= 10, 'the routes of this host are listed');

  for (const operation of operations) {
    const name = `${operation.method} ${operation.path}`;
    if (operation.takesBody) {
      for (const [what, body] of Object.entries(bodies)) {
        if (isEmptyTo(operation, body)) continue;
        const answer = await app.request(operation.method, operation.path, {
          body,
          headers: { 'content-type': 'application/json' },
        });
        t.ok(
          answer.status >= 400 && answer.status < 500 && typeof answer.body?.detail === 'string',
          `${name}: ${what}`,
          {
            status: answer.status,
            text: answer.text.slice(0, 300),
          },
        );
      }
      const huge = await app.request(operation.method, operation.path, {
        body: `{"process_name":"${'x'.repeat(11 * 1024 * 1024)}"}`,
        headers: { 'content-type': 'application/json' },
      });
      t.match(huge, { status: 413, body: { detail: String } }, `${name}: an oversized body`);
      const form = await app.request(operation.method, operation.path, {
        body: 'process_name=Sleeper',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
      });
      t.match(form, { status: 415, body: { detail: String } }, `${name}: a form`);
    }
    if (operation.query.length > 0) {
      for (const query of queries) {
        const answer = await app.request(operation.method, `${operation.path}?${query}`);
        const refused = answer.status >= 400 && answer.status < 500 && typeof answer.body?.detail === 'string';
        // A parameter that this route does not have is ignored, as every unknown field is.
        const concerned = query
          .split('&')
          .every(part => operation.query.includes((part.split('=')[0] ?? '').replace(/\[\d*\]$/, '')));
        // An unknown process has no databases and no job, which are answers.
        const listsNothing =
          (operation.path === '/metrics/database-health' && answer.body?.services?.length === 0) ||
          (/[-/]latest$/.test(operation.path) && answer.body?.job === null);
        t.ok(refused || listsNothing || (!concerned && answer.status < 500), `${name}?${query.slice(0, 60)}`, {
          status: answer.status,
          text: answer.text.slice(0, 300),
        });
      }
    }
  }
  for (const wild of [
    '/%2e%2e/etc/passwd',
    '/config/../../etc',
    '/%',
    '/%c0%ae',
    '/__proto__',
    '/constructor',
    `/${'a'.repeat(10_000)}`,
  ]) {
    const answer = await app.get(wild);
    t.ok(answer.status >= 400 && answer.status < 500 && typeof answer.body?.detail === 'string', wild.slice(0, 40));
  }
  t.equal(await readFile(file, 'utf8'), before, 'the configuration on disk is what it was');
  t.equal(({} as { polluted?: boolean }).polluted, undefined, 'no prototype was changed');
  t.equal(
    (await app.get('/process/service-status?process_name=Sleeper')).body.status,
    'stopped',
    'nothing was started',
  );
});
