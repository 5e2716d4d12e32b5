// Describes the registered routes as OpenAPI 3.1, from the same schemas that validate the requests.
import { z } from 'zod';
import type { Stream } from '../contract/stream.ts';
import { accessOf } from './access.ts';
import type { OwnedRoute } from './route-map.ts';

export interface ApiParts {
  readonly version: string;
  readonly routes: readonly OwnedRoute[];
  readonly streams: readonly Stream[];
}

type JsonObject = Record<string, unknown>;

const SECURITY_SCHEME = 'bearer';
const JSON_TYPE = 'application/json';
const COMPONENTS = '#/components/schemas/';

export function describeApi({ version, routes, streams }: ApiParts): JsonObject {
  const schemas: JsonObject = {
    Problem: {
      type: 'object',
      required: ['detail'],
      properties: { detail: { type: 'string', description: 'One readable line.' } },
    },
  };
  const paths: Record<string, JsonObject> = {};
  for (const { group, route } of routes) {
    if (route.hidden) continue;
    const path = route.path.replace('...}', '}');
    const item = paths[path] ?? {};
    paths[path] = item;
    item[route.method.toLowerCase()] = describeOperation(group, route, schemas);
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Stackwarden', version, description: listStreams(streams) },
    servers: [{ url: '.' }],
    security: [{ [SECURITY_SCHEME]: [] }],
    paths,
    components: {
      schemas,
      securitySchemes: { [SECURITY_SCHEME]: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' } },
    },
  };
}

function describeOperation(group: string, route: OwnedRoute['route'], schemas: JsonObject): JsonObject {
  const id = `${route.method.toLowerCase()}${route.path.replace(/[^a-zA-Z0-9]+/g, '_').replace(/_$/, '')}`;
  const describe = (schema: z.ZodType, part: string, io: 'input' | 'output') =>
    toJsonSchema(schema, `${id}_${part}`, io, schemas);
  const result: JsonObject = { operationId: id, summary: route.summary, tags: [group] };
  const parameters = [...route.path.matchAll(/\{(\w+)/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }));
  const query = route.query === undefined ? [] : describeQuery(describe(route.query, 'query', 'input'));
  if (parameters.length + query.length > 0) result.parameters = [...parameters, ...query];
  if (route.body !== undefined) {
    const schema = describe(route.body, 'body', 'input');
    // An empty body counts as an empty object.
    result.requestBody = { required: hasRequired(schema, schemas), content: { [JSON_TYPE]: { schema } } };
  }
  const success: JsonObject = { description: 'Success' };
  if (route.response !== undefined) {
    const schema = describe(route.response, 'answer', 'output');
    success.content = Object.fromEntries((route.mediaTypes ?? [JSON_TYPE]).map(type => [type, { schema }]));
  }
  const problem = { [JSON_TYPE]: { schema: { $ref: `${COMPONENTS}Problem` } } };
  result.responses = { 200: success, default: { description: 'What went wrong', content: problem } };
  if (accessOf(route) === 'public') result.security = [];
  return result;
}

/** Whether the object that a schema describes must have certain members. */
function hasRequired(schema: JsonObject, schemas: JsonObject): boolean {
  const { $ref } = schema;
  const described = typeof $ref === 'string' ? (schemas[$ref.slice(COMPONENTS.length)] as JsonObject) : schema;
  return Array.isArray(described.required) && described.required.length > 0;
}

function describeQuery(schema: JsonObject): JsonObject[] {
  const required = new Set(schema.required as string[] | undefined);
  return Object.entries((schema.properties ?? {}) as Record<string, JsonObject>).map(([name, member]) => ({
    name,
    in: 'query',
    required: required.has(name),
    schema: member,
  }));
}

/**
 * The JSON Schema of one part. With references, it moves to `components`: they are resolved from the document's root.
 */
function toJsonSchema(schema: z.ZodType, name: string, io: 'input' | 'output', schemas: JsonObject): JsonObject {
  let described: JsonObject;
  try {
    described = { ...z.toJSONSchema(schema, { io, unrepresentable: 'any', override: addDefault }) };
    delete described.$schema;
    // Defaults and marks may be any values; from here on the description is plain data.
    described = JSON.parse(JSON.stringify(described)) as JsonObject;
  } catch (error) {
    return { description: `This schema cannot be shown: ${(error as Error).message}` };
  }
  const text = JSON.stringify(described);
  if (!text.includes('"$ref"')) return described;
  const moved = JSON.parse(
    text
      .replaceAll('"$ref":"#/$defs/', `"$ref":"${COMPONENTS}${name}.`)
      .replaceAll('"$ref":"#"', `"$ref":"${COMPONENTS}${name}"`),
  ) as JsonObject;
  for (const [key, definition] of Object.entries((moved.$defs ?? {}) as JsonObject)) {
    schemas[`${name}.${key}`] = definition;
  }
  delete moved.$defs;
  schemas[name] = moved;
  return { $ref: COMPONENTS + name };
}

/** zod leaves out the default of a schema whose input is text, so it is added here. */
function addDefault({ zodSchema, jsonSchema }: { zodSchema: z.core.$ZodTypes; jsonSchema: JsonObject }): void {
  const { def } = zodSchema._zod;
  if (def.type === 'default') jsonSchema.default = def.defaultValue;
}

function listStreams(streams: readonly Stream[]): string {
  if (streams.length === 0) return '';
  return ['WebSocket streams:', '', ...streams.map(({ path, summary }) => `- \`${path}\`: ${summary}`)].join('\n');
}
