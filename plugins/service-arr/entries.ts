// Creates and updates entries in an application, from the application's own templates; finds them by name or address.
import { deepEqual } from '#kit/deep-equal';
import type { ArrChange, ArrEntry } from './contract.ts';

interface Field {
  readonly name: string;
  readonly value?: unknown;
}

interface Entry {
  readonly id?: number;
  readonly name?: string;
  readonly implementation?: string;
  readonly fields?: readonly Field[];
  readonly tags?: readonly number[];
}

interface Tag {
  readonly id: number;
  readonly label: string;
}

export type Ask = (path: string, change?: ArrChange) => Promise<unknown>;

/** The text that an application shows instead of a stored secret. */
const HIDDEN_SECRET = '********';

/**
 * Adds the wanted entry or corrects the present one; null when it is right already. `isOther` says that other values
 * were sent last, which hidden secrets do not show.
 */
export async function ensureEntry(wanted: ArrEntry, ask: Ask, isOther: boolean): Promise<'added' | 'updated' | null> {
  const { list, name, implementation, initial } = wanted;
  const present = (await ask(list)) as readonly Entry[];
  const found = findSame(present, wanted);
  const tags = await tagIds(wanted.tags ?? [], ask);
  if (found !== undefined) {
    const compared = { ...found, fields: filled(found, wanted, false), tags: joined(found, tags) };
    const isRight = deepEqual(compared, { ...found, fields: found.fields ?? [], tags: found.tags ?? [] });
    if (isRight && !isOther) return null;
    await ask(`${list}/${found.id}`, { method: 'PUT', json: { ...compared, fields: filled(found, wanted, true) } });
    return 'updated';
  }
  const schemas = (await ask(`${list}/schema`)) as readonly Entry[];
  const own = schemas.filter(schema => schema.implementation === implementation);
  const template = own.find(schema => wanted.template !== undefined && schema.name === wanted.template) ?? own[0];
  if (template === undefined) throw new Error(`it has no ${implementation} among its kinds of ${list}`);
  const json = { ...template, ...initial, name, fields: filled(template, wanted, true), tags: joined(template, tags) };
  await ask(list, { method: 'POST', json });
  return 'added';
}

/** By its name first: its address may be the former one of another, where both have moved. */
function findSame(present: readonly Entry[], { name, implementation, fields, address }: ArrEntry): Entry | undefined {
  const own = present.filter(entry => entry.implementation === implementation);
  const value = (entry: Entry, field: string): unknown =>
    entry.fields?.find(candidate => candidate.name === field)?.value ?? '';
  return (
    own.find(entry => entry.name?.toLowerCase() === name.toLowerCase()) ??
    own.find(entry => address.every(field => value(entry, field) === (fields[field] ?? '')))
  );
}

/** Fills in the wanted values. Without `secrets`, hidden fields keep the text that the application shows. */
function filled({ fields = [] }: Entry, wanted: ArrEntry, secrets: boolean): Field[] {
  return fields.map(field => {
    const value = wanted.fields[field.name];
    return value === undefined || (field.value === HIDDEN_SECRET && !secrets) ? field : { ...field, value };
  });
}

function joined({ tags = [] }: Entry, more: readonly number[]): number[] {
  return [...new Set([...tags, ...more])];
}

/** The ids of the labels; missing labels are created. */
async function tagIds(labels: readonly string[], ask: Ask): Promise<number[]> {
  if (labels.length === 0) return [];
  const present = (await ask('tag')) as readonly Tag[];
  const ids: number[] = [];
  for (const label of labels) {
    const known = present.find(tag => tag.label.toLowerCase() === label);
    const tag = known ?? ((await ask('tag', { method: 'POST', json: { label } })) as Tag);
    ids.push(tag.id);
  }
  return ids;
}
