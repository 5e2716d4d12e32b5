// JSON Schema (draft 7) made from schemas of the configuration, with the marks of their members as additional keywords.
import { z } from 'zod';
import type { ConfigObject } from '../contract/config.ts';
import { isObject } from '../kit/plain-object.ts';
import { valueAt } from '../kit/value-at.ts';
import { type ConfigPath, withEdit } from './layers.ts';
import { MARKS } from './marks.ts';

/** Marks that are not JSON Schema keywords themselves. */
const OWN_KEYWORDS = MARKS.filter(mark => mark !== 'writeOnly');
/**
 * The formats of draft 7. Any other that zod names adds nothing to the pattern beside it, and validators warn about it.
 */
const FORMATS = new Set([
  'date-time',
  'date',
  'time',
  'email',
  'hostname',
  'ipv4',
  'ipv6',
  'uri',
  'uri-reference',
  'uri-template',
  'json-pointer',
  'regex',
]);

const made = new WeakMap<z.ZodType, ConfigObject>();

/** Omits `$id` and `$schema`, because the result becomes a subtree and a browser caches compiled schemas by `$id`. */
export function toJsonSchema(schema: z.ZodType): ConfigObject {
  const known = made.get(schema);
  if (known !== undefined) return known;
  const { $schema: _schema, ...rest } = z.toJSONSchema(schema, {
    target: 'draft-7',
    io: 'input',
    unrepresentable: 'any',
    reused: 'inline',
    override({ jsonSchema }) {
      renameMarks(jsonSchema);
      if (jsonSchema.format !== undefined && !FORMATS.has(jsonSchema.format)) delete jsonSchema.format;
    },
  });
  made.set(schema, rest as ConfigObject);
  return rest as ConfigObject;
}

function renameMarks(jsonSchema: Record<string, unknown>): void {
  for (const keyword of OWN_KEYWORDS) {
    if (!['boolean', 'string'].includes(typeof jsonSchema[keyword])) continue;
    jsonSchema[`x-${keyword}`] = jsonSchema[keyword];
    delete jsonSchema[keyword];
  }
}

/**
 * Merges several schemas of one object; for a member that several describe, the last wins, with the description of an
 * earlier one where it has none.
 */
export function mergedObjectSchema(schemas: readonly ConfigObject[]): ConfigObject {
  const properties: ConfigObject = {};
  for (const [key, member] of schemas.flatMap(schema => Object.entries(propertiesOf(schema)))) {
    const { description } = (properties[key] ?? {}) as { description?: unknown };
    properties[key] = description === undefined ? member : { description, ...(member as ConfigObject) };
  }
  return { ...Object.assign({}, ...schemas), properties, additionalProperties: true } as ConfigObject;
}

export function propertiesOf(schema: ConfigObject): ConfigObject {
  return isObject(schema.properties) ? schema.properties : {};
}

/** The subschema that describes the object at a path; undefined when there is none. */
export function subschemaAt(schema: ConfigObject, path: ConfigPath): ConfigObject | undefined {
  const found = valueAt(schema, schemaPath(path));
  return isObject(found) ? found : undefined;
}

export function withSubschema(schema: ConfigObject, path: ConfigPath, value: ConfigObject): ConfigObject {
  return withEdit(schema, { path: schemaPath(path), value }) as ConfigObject;
}

function schemaPath(path: ConfigPath): ConfigPath {
  return path.flatMap(key => ['properties', key]);
}
