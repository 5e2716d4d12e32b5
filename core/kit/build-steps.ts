// The commands that make a program of a release, as the facts of a runtime name them.
import { stat } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import type { BuildEnvironment } from './build-environment.ts';

const texts = z.array(z.string());

/** What the facts of every runtime may have. */
export const buildStepFacts = {
  steps: z.array(texts.min(1)).optional().describe('commands, one after the other; without it what is usual'),
  in: z.string().optional().describe('the folder in which they run, relative to that of the release'),
  unless: z
    .string()
    .optional()
    .describe('a file that releases have which need not be built; they are built from a branch or a commit alone'),
  env: z.record(z.string(), z.string()).optional().describe('variables of these commands'),
};

interface StepFacts {
  readonly in?: string | undefined;
  readonly unless?: string | undefined;
  readonly env?: Readonly<Record<string, string>> | undefined;
}

type Options = Readonly<Record<string, unknown>>;

/** Whether a block selects a branch or a commit. */
export function selectsSources({ branch_enabled: branch, commit_sha: commit }: Options): boolean {
  return branch === true || (typeof commit === 'string' && commit.trim() !== '');
}

/** Whether the tools of a build are needed for what a block selects: releases may come built, where sources do not. */
export function needsTools({ unless }: StepFacts, block: Options): boolean {
  return unless === undefined || selectsSources(block);
}

/** Whether the release in this folder is built already. */
export async function isBuilt({ unless }: StepFacts, directory: string): Promise<boolean> {
  if (unless === undefined) return false;
  return stat(path.join(directory, unless)).then(
    () => true,
    () => false,
  );
}

/** Throws an Error with the end of what the first command that fails has said. */
export async function runSteps(
  environment: BuildEnvironment,
  steps: readonly (readonly string[])[],
  { in: folder, env = {} }: StepFacts,
  fill: (text: string) => string,
): Promise<void> {
  for (const step of steps) await environment.run({ argv: step.map(fill), in: folder, env });
}
