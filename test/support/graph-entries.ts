// Entries of the dependency graph, made without a host. They have the marks of the product's own block keys.
import type { BlockMarks, RelationMark } from '../../core/contract/config.ts';
import { blockKeys } from '../../plugins/dependency-graph/block-keys.ts';
import { Entries } from '../../plugins/dependency-graph/entries.ts';
import { selectorKeys } from '../../plugins/installs/selectors.ts';
import { blockSchema, mountKeys } from '../../plugins/process/settings.ts';
import type { ServiceTemplates } from '../../plugins/services/contract.ts';

const relations = new Map<string, RelationMark>();
for (const { shape } of [blockSchema, mountKeys, blockKeys, selectorKeys])
  for (const [key, member] of Object.entries(shape)) {
    const relation = member.meta()?.relation;
    if (relation !== undefined) relations.set(key, relation);
  }
const marks: BlockMarks = { decidesProgram: [], programFiles: [], relations };

/** `reads` are further keys of blocks that signals read. */
export function graphEntries(templates: ServiceTemplates, reads: readonly string[] = []): Entries {
  return new Entries({ templates, marksOf: () => marks, reads });
}
