// Changes of the configuration's form that templates describe. Each is idempotent, and its id is recorded once it is
// done.
import { deepEqual } from '#kit/deep-equal';
import { isObject } from '#kit/plain-object';
import type { ServiceTemplate, ServiceTemplates } from '../services/contract.ts';

type Values = Readonly<Record<string, unknown>>;
type Change = NonNullable<ServiceTemplate['migrations']>[number];

export interface Migration {
  readonly id: string;
  /** What to merge into the configuration, where null deletes a key; undefined when there is nothing to do. */
  updates(root: Values): Record<string, unknown> | undefined;
}

/** Renamed keys come first, because other changes apply to a block under its present key. */
export function migrationsOf(templates: ServiceTemplates): Migration[] {
  const all = templates.list();
  return [
    ...all.flatMap(template => (template.aliases ?? []).map(former => renamed(former, template, templates))),
    ...all.flatMap(({ key, migrations = [] }) => migrations.map(migration => changed(key, migration))),
  ];
}

/** Moves a block from a former key to the present one; when both exist, a person has to decide. */
function renamed(from: string, template: ServiceTemplate, templates: ServiceTemplates): Migration {
  const to = template.key;
  return {
    id: `${from}-to-${to}`,
    updates(root) {
      const former = root[from];
      if (typeof former !== 'object' || former === null) return undefined;
      const block = templates.block(template);
      const untouched = template.instance === undefined ? block : { instances: { [template.instance]: block } };
      if (!deepEqual(root[to] ?? {}, untouched)) return undefined;
      return { [to]: former, [from]: null };
    },
  };
}

function changed(key: string, { id, where, set }: Change): Migration {
  return {
    id,
    updates(root) {
      const block = root[key];
      if (!isObject(block)) return undefined;
      const isFormer = Object.entries(where).every(([name, value]) => deepEqual(block[name], value));
      return isFormer ? { [key]: set } : undefined;
    },
  };
}
