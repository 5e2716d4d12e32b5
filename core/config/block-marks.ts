// The marks of the keys of blocks that other areas look for: what decides which program runs, and what relations are read
// from.
import type { z } from 'zod';
import type { BlockMarks, RelationMark } from '../contract/config.ts';
import { describe, innerSchemas, shapeOf } from './marks.ts';

type Schema = z.core.$ZodType;

const RELATIONS: readonly unknown[] = ['port', 'address', 'wait', 'shown', 'read'] satisfies RelationMark[];

/** What all schemas of a block say together; of several relations of one key the last counts, as in editors. */
export function blockMarksOf(schemas: readonly Schema[]): BlockMarks {
  const decidesProgram = new Set<string>();
  const relations = new Map<string, RelationMark>();
  for (const layer of schemas.flatMap(schema => describe(schema).layers))
    for (const [key, member] of Object.entries(shapeOf(layer))) {
      if (decides(member)) decidesProgram.add(key);
      for (const { relation } of describe(member).marks)
        if (relation !== undefined && RELATIONS.includes(relation)) relations.set(key, relation);
    }
  return { decidesProgram: [...decidesProgram], relations };
}

/** Whether the mark stands at the schema, or anywhere in it. */
function decides(schema: Schema): boolean {
  const reached = new Set([schema]);
  for (const one of reached) for (const inner of innerSchemas(one)) reached.add(inner);
  return [...reached].some(one => describe(one).marks.some(({ decidesProgram }) => decidesProgram === true));
}
