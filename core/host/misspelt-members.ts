// Finds misspelt members of a value that a plugin contributes. Only plain objects are searched: the fields of a class
// are its own, and a member whose name resembles none that is missing is there on purpose. Members that the schema does
// not name are not read, because an accessor is code.
import type { z } from 'zod';
import { describe, innerSchemas, itemsOf, memberOf, shapeOf } from '../config/marks.ts';
import { misspellingIn } from '../kit/checked-argument.ts';
import { isPlain } from './contain.ts';

type Schema = z.core.$ZodType;

/** What is looked at in values that fit any of some schemas. */
interface Layout {
  readonly known: ReadonlySet<string>;
  /** The schemas of a member; undefined when no object below it has a shape, so that it need not be read. */
  inner(key: string): readonly Schema[] | undefined;
  readonly items: readonly Schema[];
}

/** By the list of schemas, which is the same for all values. */
const layouts = new WeakMap<readonly Schema[], Layout>();
const roots = new WeakMap<Schema, readonly Schema[]>();
const shaped = new WeakMap<Schema, boolean>();

/** A sentence about the first misspelt member; `what` names the value in it. undefined when there is none. */
export function misspeltIn(schema: z.ZodType, value: unknown, what: string): string | undefined {
  const searched = new Set<unknown>();
  const search = (schemas: readonly Schema[], at: unknown, place: () => string): string | undefined => {
    if (typeof at !== 'object' || at === null || searched.has(at)) return undefined;
    searched.add(at);
    const { known, inner, items } = layoutOf(schemas);
    if (Array.isArray(at)) return first(at, item => search(items, item, () => `an entry of ${place()}`));
    if (!isPlain(at)) return undefined;
    const keys = Object.keys(at);
    return (
      misspellingIn(keys, known, place) ??
      first(keys, key => {
        const below = inner(key);
        return below && search(below, Reflect.get(at, key), () => `'${key}' of ${place()}`);
      })
    );
  };
  const root = roots.get(schema) ?? [schema];
  roots.set(schema, root);
  return search(root, value, () => what);
}

function layoutOf(schemas: readonly Schema[]): Layout {
  const before = layouts.get(schemas);
  if (before !== undefined) return before;
  const layers = schemas.flatMap(schema => describe(schema).layers);
  const members = new Map<string, readonly Schema[] | undefined>();
  const layout: Layout = {
    known: new Set(layers.flatMap(layer => Object.keys(shapeOf(layer)))),
    inner(key) {
      if (!members.has(key)) {
        const found = layers.flatMap(layer => memberOf(layer, key));
        members.set(key, found.some(isShaped) ? found : undefined);
      }
      return members.get(key);
    },
    items: layers.flatMap(itemsOf),
  };
  layouts.set(schemas, layout);
  return layout;
}

/** Whether an object that the schema takes, or one in it, has a shape. */
function isShaped(schema: Schema): boolean {
  const before = shaped.get(schema);
  if (before !== undefined) return before;
  // Holds for a schema that contains itself while that is not known yet.
  shaped.set(schema, true);
  const is = Object.keys(shapeOf(schema)).length > 0 || innerSchemas(schema).some(isShaped);
  shaped.set(schema, is);
  return is;
}

function first<Item>(items: readonly Item[], find: (item: Item) => string | undefined): string | undefined {
  for (const item of items) {
    const found = find(item);
    if (found !== undefined) return found;
  }
  return undefined;
}
