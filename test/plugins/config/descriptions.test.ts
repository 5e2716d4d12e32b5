// The schema of the configuration describes each key, in every section and every block of a service.
import { existsSync } from 'node:fs';
import t from 'tap';
import { isObject } from '../../../core/kit/plain-object.ts';
import { startHost } from '../../support/host.ts';

const isHere = existsSync(new URL('../../../plugins/config/index.ts', import.meta.url));

/** Dotted paths of keys without a description. An object counts as described when its members are. */
function withoutDescription(schema: unknown, path: readonly string[] = []): string[] {
  if (!isObject(schema)) return [];
  const members = Object.entries(isObject(schema.properties) ? schema.properties : {});
  const bare = members.flatMap(([key, member]) => {
    const { description, properties } = member as { description?: string; properties?: unknown };
    return (description ?? '') === '' && properties === undefined && !isList(member) ? [[...path, key].join('.')] : [];
  });
  const below = [
    ...members.flatMap(([key, member]) => withoutDescription(member, [...path, key])),
    ...[schema.items, schema.additionalProperties].flatMap(inner => withoutDescription(inner, [...path, '*'])),
    ...(isObject(schema.patternProperties) ? Object.values(schema.patternProperties) : []).flatMap(inner =>
      withoutDescription(inner, [...path, '*']),
    ),
    ...[schema.anyOf, schema.oneOf, schema.allOf].flatMap(options =>
      (Array.isArray(options) ? options : []).flatMap(option => withoutDescription(option, path)),
    ),
  ];
  return [...bare, ...below];
}

/** Each format that a schema names, for any key. */
function formatsOf(schema: unknown): string[] {
  if (Array.isArray(schema)) return schema.flatMap(formatsOf);
  if (!isObject(schema)) return [];
  return [...(typeof schema.format === 'string' ? [schema.format] : []), ...Object.values(schema).flatMap(formatsOf)];
}

/** The instances of a service, each a block. */
function isList(member: unknown): boolean {
  return isObject(member) && member.patternProperties !== undefined;
}

t.test('every key has a description', { skip: !isHere }, async t => {
  const app = await startHost({
    plugins: 'all',
    config: { mine: { process_name: 'Mine', command: ['sleep', '600'] } },
  });
  t.teardown(() => app.stop());
  const { body } = await app.get('/config/schema');
  t.same([...new Set(withoutDescription(body))], []);
  const formats = new Set(formatsOf(body));
  formats.delete('uri');
  t.same([...formats], [], 'browsers write a line for each format that they do not know');
  const { health } = body.properties.mine.properties;
  t.match(health.properties.path, { pattern: /^\^/ }, 'what a path begins with is told all the same');
  const keys = Object.keys(body.properties.mine.properties);
  for (const key of ['command', 'env', 'port', 'log_file', 'wait_for_url', 'stop_signal'])
    t.ok(keys.includes(key), key);
  t.ok(Object.keys(body.properties.dumb.properties).includes('auto_restart'));
});
