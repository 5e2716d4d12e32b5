// The facts in a template about programs that Python runs.
import { z } from 'zod';
import { buildStepFacts } from '#kit/build-steps';

const texts = z.array(z.string());

export const pythonFacts = z.lazy(() =>
  z.strictObject({
    ...buildStepFacts,
    version: z
      .string()
      .regex(/^\d+\.\d+$/)
      .optional()
      .describe('the version that it is made for; a later one stands in where that is missing'),
    sourceVersion: z
      .string()
      .regex(/^\d+\.\d+$/)
      .optional()
      .describe('the same for what comes from a branch or a commit'),
    venv: z.string().default('venv').describe('folder of its virtual environment'),
    requirements: texts
      .default(['requirements.txt'])
      .describe('files of requirements; of several, those that are there'),
    packages: texts.default([]).describe('what it needs besides'),
    poetry: z.literal(true).optional().describe('its requirements are those of its pyproject.toml, by poetry'),
  }),
);

export type PythonFacts = z.output<typeof pythonFacts>;
