// The marks of the keys of blocks that other areas look for: what decides which program runs, and what relations are
// read from.
import type { z } from 'zod';
import type { BlockMarks, RelationMark } from '../contract/config.ts';
import { describe, innerSchemas, shapeOf } from './marks.ts';

type Schema = z.core.$ZodType;

const RELATIONS: readonly unknown[] = ['port', 'address', 'wait', 'shown', 'read'] satisfies RelationMark[];

/** What all schemas of a block say together; of several relations of one key the last counts, as in editors. */
export function blockMarksOf(schemas: readonly Schema[]): BlockMarks {
  const decidesProgram = new Set<string>();
  const programFiles = new Set<string>();
  const relations = new Map<string, RelationMark>();
  for (const layer of schemas.flatMap(schema => describe(schema).layers))
    for (const [key, member] of Object.entries(shapeOf(layer))) {
      const deciding = decidingIn(member);
      if (deciding.size > 0) decidesProgram.add(key);
      if (deciding.has('files')) programFiles.add(key);
      for (const { relation } of describe(member).marks)
        if (relation !== undefined && RELATIONS.includes(relation)) relations.set(key, relation);
    }
  return { decidesProgram: [...decidesProgram], programFiles: [...programFiles], relations };
}

/** The marks of the schema, and of everything in it. */
function decidingIn(schema: Schema): ReadonlySet<true | 'files'> {
  const reached = new Set([schema]);
  for (const one of reached) for (const inner of innerSchemas(one)) reached.add(inner);
  const marks = [...reached].flatMap(one => describe(one).marks.map(({ decidesProgram }) => decidesProgram));
  return new Set(marks.filter(mark => mark === true || mark === 'files'));
}

/**
 * Whether relations are read from the key of any block. What is only `read` is asked for beside an option of a
 * template, and of other blocks by nobody.
 */
export function tellsRelation({ relations }: BlockMarks, key: string): boolean {
  const mark = relations.get(key);
  return mark !== undefined && mark !== 'read';
}
