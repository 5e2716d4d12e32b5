// Updates of the configuration in which services have their present names, whatever names they came with.
import { type ConfigObject, Problem } from '#core';
import { isObject } from '#kit/plain-object';
import { valueAt } from '#kit/value-at';
import type { ServiceTemplates } from '../services/contract.ts';

type Place = readonly string[];

/**
 * The updates with former places of services replaced by the present ones, except where the configuration itself still
 * has a block at the former one. Throws a Problem 409 for a service at both, because neither would be known to count.
 */
export function underPresentNames(
  updates: ConfigObject,
  root: Readonly<ConfigObject>,
  templates: ServiceTemplates | undefined,
): ConfigObject {
  let present = updates;
  for (const template of templates?.list() ?? []) {
    const place = templates?.placeOf(template) ?? [];
    const former = templates?.formerPlacesOf(template).find(path => valueAt(present, path) !== undefined);
    if (former === undefined) continue;
    if (valueAt(present, place) !== undefined)
      throw new Problem(409, `${former.join('.')} is the former name of ${place.join('.')}; send one of them`);
    if (valueAt(root, former) !== undefined) continue;
    present = withMember(without(present, former), place, valueAt(present, former));
  }
  return present;
}

function withMember(object: ConfigObject, [key = '', ...below]: Place, value: unknown): ConfigObject {
  const inner = isObject(object[key]) ? object[key] : {};
  return { ...object, [key]: below.length === 0 ? value : withMember(inner, below, value) };
}

/** What is empty without the member goes too. */
function without(object: ConfigObject, [key = '', ...below]: Place): ConfigObject {
  const { [key]: member, ...others } = object;
  const left = isObject(member) && below.length > 0 ? without(member, below) : {};
  return Object.keys(left).length === 0 ? others : { ...object, [key]: left };
}
