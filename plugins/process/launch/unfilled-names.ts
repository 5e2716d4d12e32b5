// Finds names in braces that a launch leaves as they stand, because they are misspelt.

import { nearestWord } from '#kit/nearest-word';
import { isObject } from '#kit/plain-object';
import type { LaunchPlan } from '../contract.ts';

const NAME = /\{([A-Za-z_]\w*)\}/g;

/** One sentence for each name; names that resemble no key of the block are taken for the program's own. */
export function unfilledNames({ processName, argv, env, block }: LaunchPlan): string[] {
  const variables = isObject(block.env) ? Object.keys(block.env).map(name => env[name] ?? '') : [];
  const known = Object.keys(block);
  const names = new Set([...argv, ...variables].flatMap(text => [...text.matchAll(NAME)].map(([, name = '']) => name)));
  return [...names].flatMap(name => {
    const meant = nearestWord(name, known);
    if (meant === undefined) return [];
    return [`${processName} is started with {${name}} as it stands; {${meant}} is probably meant`];
  });
}
