// A name in braces that a launch has filled with nothing, because it is misspelt.

import { nearestWord } from '#kit/nearest-word';
import { isObject } from '#kit/plain-object';
import type { LaunchPlan } from '../contract.ts';

const NAME = /\{([A-Za-z_]\w*)\}/g;

/** One sentence; undefined where every name that is left is one of the program's own. */
export function unfilledName({ processName, argv, env, block }: LaunchPlan): string | undefined {
  const variables = isObject(block.env) ? Object.keys(block.env).map(name => env[name] ?? '') : [];
  const known = Object.keys(block);
  for (const [, name = ''] of [...argv, ...variables].flatMap(text => [...text.matchAll(NAME)])) {
    const meant = nearestWord(name, known);
    if (meant !== undefined)
      return `${processName} is started with {${name}} as it stands; {${meant}} is probably meant`;
  }
  return undefined;
}
