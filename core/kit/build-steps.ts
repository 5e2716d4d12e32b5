// The commands that build a release, as the facts of a runtime name them.
import { stat } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import type { BuildEnvironment } from './build-environment.ts';

const texts = z.array(z.string());

/** The members that the facts of every runtime may have. */
export const buildStepFacts = {
  steps: z.array(texts.min(1)).optional().describe('commands, one after the other; without it what is usual'),
  in: z.string().optional().describe('the folder in which they run, relative to that of the release'),
  unless: z
    .string()
    .optional()
    .describe('a file that releases have which need not be built; they are built from a branch or a commit alone'),
  when: texts
    .min(1)
    .optional()
    .describe('files of which a release has one that is built so; releases of another layout are left as they are'),
  env: z.record(z.string(), z.string()).optional().describe('variables of these commands'),
};

interface StepFacts {
  readonly in?: string | undefined;
  readonly unless?: string | undefined;
  readonly when?: readonly string[] | undefined;
  readonly env?: Readonly<Record<string, string>> | undefined;
}

/**
 * Whether it is certain before the download that a release needs build tools. With `unless` it may come built, except
 * from sources; with `when` it may have another layout.
 */
export function needsTools({ unless, when }: StepFacts, isFromSources: boolean): boolean {
  return when === undefined && (unless === undefined || isFromSources);
}

/** Whether the release in this folder is to be built with these facts. */
export async function isToBuild({ unless, when }: StepFacts, directory: string): Promise<boolean> {
  const isThere = (file: string): Promise<boolean> =>
    stat(path.join(directory, file)).then(
      () => true,
      () => false,
    );
  if (unless !== undefined && (await isThere(unless))) return false;
  return when === undefined || (await Promise.all(when.map(isThere))).includes(true);
}

/** Throws an Error with the last output of the first command that fails. */
export async function runSteps(
  environment: BuildEnvironment,
  steps: readonly (readonly string[])[],
  { in: folder, env = {} }: StepFacts,
  fill: (text: string) => string,
): Promise<void> {
  for (const step of steps) await environment.run({ argv: step.map(fill), in: folder, env });
}
