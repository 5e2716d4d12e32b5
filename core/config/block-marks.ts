// Finds marks of the keys of blocks: which keys decide what program runs, and from which ones relations are read.
import type { z } from 'zod';
import type { BlockMarks, RelationMark } from '../contract/config.ts';
import { describe, innerSchemas, shapeOf } from './marks.ts';

type Schema = z.core.$ZodType;

const RELATIONS: readonly unknown[] = ['port', 'address', 'wait', 'shown', 'read'] satisfies RelationMark[];

/**
 * The marks of all schemas of a block together; of several relations of one key the last one counts, as in editors.
 */
export function blockMarksOf(schemas: readonly Schema[]): BlockMarks {
  const decidesProgram = new Set<string>();
  const programFiles = new Set<string>();
  const relations = new Map<string, RelationMark>();
  const layers = schemas.flatMap(schema => describe(schema).layers);
  for (const [key, member] of layers.flatMap(layer => Object.entries(shapeOf(layer)))) {
    const deciding = decidingIn(member);
    if (deciding.size > 0) decidesProgram.add(key);
    if (deciding.has('files')) programFiles.add(key);
    for (const relation of relationsIn(member)) relations.set(key, relation);
  }
  return { decidesProgram: [...decidesProgram], programFiles: [...programFiles], relations };
}

/** The `decidesProgram` marks of the schema, and of everything in it. */
function decidingIn(schema: Schema): ReadonlySet<true | 'files'> {
  const reached = new Set([schema]);
  for (const one of reached) for (const inner of innerSchemas(one)) reached.add(inner);
  const marks = [...reached].flatMap(one => describe(one).marks.map(({ decidesProgram }) => decidesProgram));
  return new Set(marks.filter(mark => mark === true || mark === 'files'));
}

/** The `relation` marks of the schema itself that are known. */
function relationsIn(schema: Schema): RelationMark[] {
  return describe(schema).marks.flatMap(({ relation }) =>
    relation !== undefined && RELATIONS.includes(relation) ? [relation] : [],
  );
}

/**
 * Whether relations are read from the key of any block. A key marked `read` is used only together with an option of a
 * template, so in other blocks nothing reads it.
 */
export function tellsRelation({ relations }: BlockMarks, key: string): boolean {
  const mark = relations.get(key);
  return mark !== undefined && mark !== 'read';
}
