// Finds misspelt members of a value that a plugin contributes. Only plain objects are searched: the fields of a class
// are its own, and a member whose name resembles none that is missing is there on purpose. Members that the schema does
// not name are not read, because an accessor is code.
import type { z } from 'zod';
import { describe, itemsOf, memberOf, shapeOf } from '../config/marks.ts';
import { misspellingIn } from '../kit/checked-argument.ts';
import { isPlain } from './contain.ts';

type Schema = z.core.$ZodType;

/** A sentence about the first misspelt member; `what` names the value in it. undefined when there is none. */
export function misspeltIn(schema: z.ZodType, value: unknown, what: string): string | undefined {
  const searched = new Set<unknown>();
  const search = (schemas: readonly Schema[], at: unknown, place: string): string | undefined => {
    if (typeof at !== 'object' || at === null || searched.has(at)) return undefined;
    searched.add(at);
    const layers = schemas.flatMap(schema => describe(schema).layers);
    if (Array.isArray(at)) return first(at, item => search(layers.flatMap(itemsOf), item, `an entry of ${place}`));
    if (!isPlain(at)) return undefined;
    const known = layers.flatMap(layer => Object.keys(shapeOf(layer)));
    return (
      misspellingIn(Object.keys(at), known, place) ??
      first(Object.keys(at), key => {
        const inner = layers.flatMap(layer => memberOf(layer, key));
        return inner.length === 0 ? undefined : search(inner, Reflect.get(at, key), `'${key}' of ${place}`);
      })
    );
  };
  return search([schema], value, what);
}

function first<Item>(items: readonly Item[], find: (item: Item) => string | undefined): string | undefined {
  for (const item of items) {
    const found = find(item);
    if (found !== undefined) return found;
  }
  return undefined;
}
