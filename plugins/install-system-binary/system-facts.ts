// The facts in a template about a program that must be installed on the machine.
import { z } from 'zod';

export const systemFacts = z.lazy(() =>
  z.strictObject({
    program: z.string().min(1).describe('name, or absolute path'),
    places: z
      .array(z.string().startsWith('/'))
      .optional()
      .describe('directories besides those of PATH; a part of them may be `*`'),
    package: z.string().optional().describe('what Debian calls the package that has it'),
    commands: z.array(z.string()).min(1).optional().describe('how it is made where no package has it'),
  }),
);

export type SystemFacts = z.output<typeof systemFacts>;
