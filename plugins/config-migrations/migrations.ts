// The changes of the configuration's form that templates describe. Each is idempotent, and its id is recorded once it
// is done.
import { deepEqual } from '#kit/deep-equal';
import { isObject } from '#kit/plain-object';
import type { ServiceTemplate, ServiceTemplates } from '../services/contract.ts';

type Values = Readonly<Record<string, unknown>>;
type Change = NonNullable<ServiceTemplate['migrations']>[number];

type Place = readonly string[];

/** The changes that a migration makes to the configuration. */
interface Step {
  /** Values to be merged, of which null deletes a key. */
  readonly updates: Record<string, unknown>;
  readonly moves?: readonly { readonly from: Place; readonly to: Place }[];
}

export interface Migration {
  readonly id: string;
  /** Whether the migration is skipped once its id is recorded. */
  readonly isOnce?: boolean;
  /** undefined when there is nothing to do. `stored` is the content of the file, without values of the environment. */
  updates(root: Values, stored: Values): Step | undefined;
  /** Why the migration cannot be made, and what to do; undefined when it can, or there is nothing to do. */
  obstacle?(root: Values, stored: Values): string | undefined;
}

/** Renamed keys come first, because other changes apply to a block under its present key. */
export function migrationsOf(templates: ServiceTemplates): Migration[] {
  const all = templates.list();
  const renames = all.flatMap(template =>
    templates.formerPlacesOf(template).map(from => ({ template, from, to: templates.placeOf(template) })),
  );
  const sections = new Map(
    renames.flatMap(({ from, to }) => (from.length === 1 ? [] : [[from[0] ?? '', to[0] ?? '']])),
  );
  return [
    ...[...sections].map(([from, to]) => renamedSection(from, to)),
    ...renames.flatMap(({ template, from: [from = '', ...below] }) =>
      below.length > 0 ? [] : [renamed(from, template, templates)],
    ),
    ...all.flatMap(template => (template.migrations ?? []).map(change => changed(template, change, templates))),
  ];
}

/** Moves a block from a former key to the present one; when both exist, a user has to decide. */
function renamed(from: string, template: ServiceTemplate, templates: ServiceTemplates): Migration {
  const to = template.key;
  const block = templates.block(template);
  const untouched = template.instance === undefined ? block : { instances: { [template.instance]: block } };
  const isFree = (root: Values, stored: Values): boolean => stored[to] === undefined || deepEqual(root[to], untouched);
  return {
    id: `${from}-to-${to}`,
    updates: (root, stored) =>
      isObject(stored[from]) && isFree(root, stored) ? { updates: {}, moves: [{ from: [from], to: [to] }] } : undefined,
    obstacle: (root, stored) => (isObject(root[from]) && !isFree(root, stored) ? bothSet(from, to) : undefined),
  };
}

/** The same for a section with blocks in it: blocks that only the former section has are moved. */
function renamedSection(from: string, to: string): Migration {
  const onlyFormer = (stored: Values): string[] =>
    Object.keys(membersOf(stored[from])).filter(member => !Object.hasOwn(membersOf(stored[to]), member));
  return {
    id: `${from}-to-${to}`,
    updates(_root, stored) {
      const moved = onlyFormer(stored);
      if (moved.length === 0) return undefined;
      if (!isObject(stored[to])) return { updates: {}, moves: [{ from: [from], to: [to] }] };
      const isEmptied = moved.length === Object.keys(membersOf(stored[from])).length;
      const moves = moved.map(member => ({ from: [from, member], to: [to, member] }));
      return { updates: isEmptied ? { [from]: null } : {}, moves };
    },
    obstacle(_root, stored) {
      const [both] = Object.keys(membersOf(stored[from])).filter(member => !onlyFormer(stored).includes(member));
      return both === undefined ? undefined : bothSet(`${from}.${both}`, `${to}.${both}`);
    },
  };
}

function bothSet(from: string, to: string): string {
  return `${from} is the former name of ${to}, and the configuration has both; move what you need into ${to} and remove ${from}`;
}

function changed(template: ServiceTemplate, change: Change, templates: ServiceTemplates): Migration {
  const { key, instance } = template;
  return {
    id: change.id,
    isOnce: 'removes' in change,
    updates(root, stored) {
      const service = root[key];
      if (!isObject(service)) return undefined;
      const own = membersOf(stored[key]);
      if (instance === undefined || !isObject(service.instances)) {
        const step = changeOf(service, own, change, templates.block(template));
        return step && inside([key], step);
      }
      const ownInstances = membersOf(own.instances);
      const steps = Object.entries(service.instances).flatMap(([name, block]) => {
        const ownBlock = membersOf(ownInstances[name]);
        const step = isObject(block) ? changeOf(block, ownBlock, change, templates.block(template, name)) : undefined;
        return step === undefined ? [] : [inside([name], step)];
      });
      return steps.length === 0 ? undefined : inside([key, 'instances'], together(steps));
    },
  };
}

/** The step for one object as a step for the object that holds it at `place`. */
function inside(place: Place, { updates, moves = [] }: Step): Step {
  return {
    updates: place.reduceRight<Record<string, unknown>>((members, key) => ({ [key]: members }), updates),
    moves: moves.map(({ from, to }) => ({ from: [...place, ...from], to: [...place, ...to] })),
  };
}

function together(steps: readonly Step[]): Step {
  return {
    updates: Object.assign({}, ...steps.map(({ updates }) => updates)) as Record<string, unknown>,
    moves: steps.flatMap(({ moves = [] }) => moves),
  };
}

function membersOf(value: unknown): Values {
  return isObject(value) ? value : {};
}

/** `own` is the content of the block in the file. */
function changeOf(block: Values, own: Values, change: Change, defaults: Values): Step | undefined {
  if ('where' in change) {
    const isFormer = Object.entries(change.where).every(([name, value]) => deepEqual(block[name], value));
    return isFormer ? { updates: change.set } : undefined;
  }
  if ('removes' in change) {
    const left = change.removes.filter(name => Object.hasOwn(own, name));
    return left.length === 0 ? undefined : { updates: Object.fromEntries(left.map(name => [name, null])) };
  }
  const former = Object.entries(change.renames).filter(([from]) => Object.hasOwn(own, from));
  if (former.length === 0) return undefined;
  // A value that is also set under the present name is newer than the one under the former name.
  const isOlder = ([, to]: [string, string]): boolean => !deepEqual(block[to], defaults[to]);
  return {
    updates: Object.fromEntries(former.filter(isOlder).map(([from]) => [from, null])),
    moves: former.filter(rename => !isOlder(rename)).map(([from, to]) => ({ from: [from], to: [to] })),
  };
}
