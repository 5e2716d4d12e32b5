// The answers of all routes that change nothing have the media type and the members that the API description gives.
import { existsSync } from 'node:fs';
import t from 'tap';
import { startHost } from '../../support/host.ts';

const isHere = existsSync(new URL('../../../plugins/docs/index.ts', import.meta.url));
const COMPONENTS = '#/components/schemas/';

interface Schema {
  readonly $ref?: string;
  readonly anyOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: boolean | Schema;
  readonly items?: Schema;
}

t.test('answers as described', { skip: !isHere, timeout: 300_000 }, async t => {
  const sleeper = { enabled: true, process_name: 'Sleeper', command: ['sleep', '600'], stop_grace_seconds: 1 };
  const host = await startHost({
    plugins: 'all',
    config: { sleeper, dumb: { startup: { stabilization_seconds: 0 }, gateway: { enabled: false } } },
  });
  t.teardown(() => host.stop());
  const { body: document } = await host.get('/openapi.json');
  let described = 0;
  for (const [path, { get }] of Object.entries<{ get?: { parameters?: { name: string; required: boolean }[] } }>(
    document.paths,
  )) {
    const required = get?.parameters?.flatMap(parameter => (parameter.required ? parameter.name : [])) ?? [];
    if (get === undefined || required.some(name => name !== 'process_name')) continue;
    const answer = await fetch(`${host.base}${path}?${required.length > 0 ? 'process_name=Sleeper' : ''}`);
    const text = await answer.text();
    if (answer.status !== 200) continue;
    const { content } = document.paths[path].get.responses[200];
    const type = answer.headers.get('content-type')?.replace(/;.*/, '') ?? '';
    t.ok(type in content, `${path} answers ${Object.keys(content)}, not ${type}`);
    described += 1;
    if (type !== 'application/json') continue;
    t.same(undescribed(JSON.parse(text), content[type].schema, document.components.schemas), [], path);
  }
  t.ok(described > 3);
});

/** The members of a value that its schema does not have, as paths. */
function undescribed(value: unknown, schema: Schema, schemas: Readonly<Record<string, Schema>>): string[] {
  const { $ref, anyOf, properties = {}, additionalProperties = true, items } = schema;
  const named = $ref === undefined ? undefined : schemas[$ref.slice(COMPONENTS.length)];
  if (named !== undefined) return undescribed(value, named, schemas);
  if (anyOf !== undefined) {
    const found = anyOf.map(one => undescribed(value, one, schemas));
    return found.reduce((fewest, other) => (other.length < fewest.length ? other : fewest));
  }
  if (Array.isArray(value)) return value.flatMap(member => undescribed(member, items ?? {}, schemas));
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, member]) => {
    const known = Object.hasOwn(properties, name) ? properties[name] : additionalProperties;
    if (known === false || known === undefined) return [name];
    const inner = known === true ? [] : undescribed(member, known, schemas);
    return inner.map(below => `${name}.${below}`);
  });
}
