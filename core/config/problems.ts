// Says of each value that does not fit its schema where it stands, what follows and how to mend it, in one sentence.
import path from 'node:path';
import type { ConfigProblem, NamedBlock } from '../contract/config.ts';
import type { EnvironmentEdit } from './environment.ts';
import type { Misfit } from './fit.ts';
import { startsWith } from './layers.ts';

/** `blocks` are the named blocks, in document order; `file` is the main configuration file. */
export function problemsOf(misfits: readonly Misfit[], blocks: readonly NamedBlock[], file: string): ConfigProblem[] {
  return misfits.map(misfit => {
    const at = misfit.disables ?? misfit.path;
    // The innermost of nested blocks comes last in the order of the document.
    const processName = blocks.findLast(block => startsWith(at, block.path))?.processName;
    const place = misfit.path.join('.') || 'the whole configuration';
    return { path: place, processName, message: `${place}: ${sentence(misfit, processName, path.basename(file))}` };
  });
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

function sentence({ message, value, standIn, disables, isFatal }: Misfit, name = '', file: string): string {
  if (standIn === 'boolean') {
    const word = String(value).trim();
    return `the text '${word}' counts as a boolean; write true or false without quotes in ${file}`;
  }
  const remedy = `until it is mended in ${file}`;
  if (isFatal) return `${message}; no service is started ${remedy}`;
  if (disables !== null) return `${message}; ${name} is disabled ${remedy}`;
  if (standIn === 'default') return `${message}; its default is used ${remedy}`;
  if (standIn === 'items') return `${message}; the other items of its list are used ${remedy}`;
  return `${message}; mend it in ${file}`;
}
