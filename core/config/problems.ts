// Describes each value that does not fit its schema in one sentence: where it stands, what follows and how to correct
// it.
import path from 'node:path';
import type { ConfigProblem, NamedBlock } from '../contract/config.ts';
import type { EnvironmentEdit } from './environment.ts';
import type { Misfit } from './fit.ts';
import type { KeptBlock } from './kept-blocks.ts';
import { type ConfigPath, placeOf } from './layers.ts';

interface Surroundings {
  /** The named blocks, in document order. */
  readonly blocks: readonly NamedBlock[];
  /** The main configuration file. */
  readonly file: string;
  /** The edits by which variables replace values of the file. */
  readonly overrides: readonly EnvironmentEdit[];
}

export function problemsOf(misfits: readonly Misfit[], { blocks, file, overrides }: Surroundings): ConfigProblem[] {
  const names = new Map(blocks.map(block => [placeOf(block.path), block.processName]));
  return misfits.map(misfit => {
    const processName = innermostName(misfit.disables ?? misfit.path, names);
    const place = misfit.path.join('.') || 'the whole configuration';
    const variable = overrides.find(edit => isOf(edit, misfit))?.variable;
    const source = variable === undefined ? path.basename(file) : `the variable ${variable}, for the next start`;
    return { path: place, processName, message: `${place}: ${sentence(misfit, processName, source)}` };
  });
}

/** The name of the innermost block around the place; undefined where there is none. */
function innermostName(at: ConfigPath, names: ReadonlyMap<string, string>): string | undefined {
  for (let depth = at.length; depth > 0; depth -= 1) {
    const name = names.get(placeOf(at.slice(0, depth)));
    if (name !== undefined) return name;
  }
  return undefined;
}

/** The problem of a variable whose value does not fit, and which is ignored for that. */
export function variableProblem({ path: at, variable }: EnvironmentEdit, { message }: Misfit): ConfigProblem {
  const place = at.join('.');
  return {
    path: place,
    processName: undefined,
    message: `${place}: the variable ${variable} is ignored until it is mended: ${message}`,
  };
}

/** The problem of a running process whose block came from a plugin that is gone. */
export function keptProblem({ path: at, processName, plugin }: KeptBlock): ConfigProblem & { processName: string } {
  const place = at.join('.');
  const what = `the plugin ${plugin}, which makes it a service, is gone`;
  return {
    path: place,
    processName,
    message: `${place}: ${what}; ${processName} can be stopped, but not started again until that plugin is back`,
  };
}

function isOf({ path: at, value }: EnvironmentEdit, misfit: Misfit): boolean {
  return value === misfit.value && placeOf(at) === placeOf(misfit.path);
}

/** `source` is where the value comes from. */
function sentence({ message, value, standIn, disables, isFatal }: Misfit, name = '', source: string): string {
  if (standIn === 'boolean') {
    const word = String(value).trim();
    return `the text '${word}' counts as a boolean; write true or false without quotes in ${source}`;
  }
  const remedy = `until it is mended in ${source}`;
  if (isFatal) return `${message}; no service is started ${remedy}`;
  if (disables !== null) return `${message}; ${name} is disabled ${remedy}`;
  if (standIn === 'default') return `${message}; its default is used ${remedy}`;
  if (standIn === 'items') return `${message}; the other items of its list are used ${remedy}`;
  return `${message}; mend it in ${source}`;
}
