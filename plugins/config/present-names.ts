// Rewrites updates of the configuration that use former names of services to their present names.
import { type ConfigObject, Problem } from '#core';
import { isObject } from '#kit/plain-object';
import { valueAt } from '#kit/value-at';
import type { ServiceTemplates } from '../services/contract.ts';

type Place = readonly string[];

/**
 * The updates with former places of services replaced by the present ones, except when the configuration itself still
 * has a block at the former place. Throws a Problem 409 when updates name both places of a service.
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

/** The object without a member; objects that are empty without it are removed, too. */
function without(object: ConfigObject, [key = '', ...below]: Place): ConfigObject {
  const { [key]: member, ...others } = object;
  const left = isObject(member) && below.length > 0 ? without(member, below) : {};
  return Object.keys(left).length === 0 ? others : { ...object, [key]: left };
}
