// The facts in a template about programs that Node.js runs.
import { z } from 'zod';
import { buildStepFacts } from '#kit/build-steps';

export const nodeFacts = z.lazy(() =>
  z.strictObject({
    ...buildStepFacts,
    buildsOnly: z.literal(true).optional().describe('Node.js builds a part of the program, and does not run it'),
    node: z.int().min(1).optional().describe('the least major version that runs the program'),
  }),
);

export type NodeFacts = z.output<typeof nodeFacts>;

/** The names of package managers in `platforms` of a block; `node` stands for programs that need none. */
export const PACKAGE_MANAGERS = ['node', 'npm', 'pnpm', 'yarn'] as const;

export type PackageManager = (typeof PACKAGE_MANAGERS)[number];

export const USUAL_STEPS: Readonly<Record<PackageManager, readonly (readonly string[])[]>> = {
  node: [],
  npm: [
    ['npm', 'install'],
    ['npm', 'run', 'build', '--if-present'],
  ],
  pnpm: [
    ['pnpm', 'install'],
    ['pnpm', 'run', '--if-present', 'build'],
  ],
  yarn: [
    ['yarn', 'install'],
    ['yarn', 'run', 'build'],
  ],
};
