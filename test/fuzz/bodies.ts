// Makes request bodies from the schemas of the API's description and spoils them, the same ones for the same seed.
import fc from 'fast-check';

interface Schema {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly enum?: readonly unknown[];
}

export interface Operation {
  readonly method: string;
  readonly path: string;
  readonly body: Schema;
}

interface Description {
  readonly paths: Readonly<
    Record<string, Readonly<Record<string, { requestBody?: { content: Record<string, { schema: Schema }> } }>>>
  >;
}

/** Names that mean something to objects, to the file system or to a terminal. */
const ODD_TEXTS = [
  '',
  ' ',
  '__proto__',
  'constructor',
  '../../etc/passwd',
  'a\u0000b',
  '\ud800',
  'x\ny',
  '\u001b[2J',
  '9'.repeat(400),
];
const MAX_DEPTH = 4;

/** The operations that take a body. */
export function operationsOf(description: unknown): Operation[] {
  return Object.entries((description as Description).paths).flatMap(([path, item]) =>
    Object.entries(item).flatMap(([method, { requestBody }]) => {
      const body = requestBody?.content['application/json']?.schema;
      return body === undefined ? [] : [{ method: method.toUpperCase(), path, body }];
    }),
  );
}

/** Texts that are sent as the body of an operation: as described, with any other value in any place, and cut. */
export function bodiesFor({ body }: Operation): fc.Arbitrary<string> {
  const cut = fc
    .tuple(anyValueOf(body, 0), fc.nat(200))
    .map(([value, length]) => JSON.stringify(value).slice(0, length));
  return fc.oneof(
    { weight: 8, arbitrary: anyValueOf(body, 0).map(value => JSON.stringify(value)) },
    { weight: 1, arbitrary: cut },
    { weight: 1, arbitrary: fc.string({ maxLength: 100 }) },
  );
}

function anyValueOf(schema: Schema, depth: number): fc.Arbitrary<unknown> {
  const odd = fc.oneof(fc.constantFrom(...ODD_TEXTS), fc.jsonValue({ maxDepth: 2 }), fc.double({ noNaN: true }));
  return fc.oneof({ weight: 5, arbitrary: describedBy(schema, depth) }, { weight: 1, arbitrary: odd });
}

function describedBy(schema: Schema, depth: number): fc.Arbitrary<unknown> {
  if (depth > MAX_DEPTH) return fc.constant(null);
  if (schema.enum !== undefined && schema.enum.length > 0) return fc.constantFrom(...schema.enum);
  if (schema.anyOf !== undefined && schema.anyOf.length > 0)
    return fc.oneof(...schema.anyOf.map(member => describedBy(member, depth + 1)));
  switch (schema.type) {
    case 'object': {
      const members = Object.entries(schema.properties ?? {}).map(([name, member]) => [
        name,
        anyValueOf(member, depth + 1),
      ]);
      const described = fc.record(Object.fromEntries(members) as Record<string, fc.Arbitrary<unknown>>, {
        requiredKeys: [],
      });
      const others = fc.dictionary(
        fc.oneof(fc.constantFrom(...ODD_TEXTS), fc.string()),
        fc.jsonValue({ maxDepth: 2 }),
        {
          maxKeys: 3,
        },
      );
      return fc.tuple(described, others).map(([known, other]) => ({ ...other, ...known }));
    }
    case 'array':
      return fc.array(anyValueOf(schema.items ?? {}, depth + 1), { maxLength: 4 });
    case 'boolean':
      return fc.boolean();
    case 'integer':
    case 'number':
      return fc.oneof(fc.integer(), fc.constantFrom(-1, 0, 65_536, 2 ** 32, Number.MAX_SAFE_INTEGER));
    default:
      return fc.oneof(fc.constantFrom('Sleeper', 'sleeper', 'a'), fc.string({ maxLength: 30 }));
  }
}
