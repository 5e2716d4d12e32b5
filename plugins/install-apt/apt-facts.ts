// The facts in a template about a program that is published as packages in a Debian repository.
import { z } from 'zod';

const packageName = z.string().regex(/^[a-z0-9][a-z0-9+.-]+$/);

/** In addresses and `suite`, `{os_id}` and `{codename}` stand for those of the machine's operating system. */
export const aptFacts = z.lazy(() =>
  z.strictObject({
    repository: z.string().describe('address of the repository, without a slash at its end'),
    suite: z.string(),
    component: z.string(),
    key: z.string().describe('address of the key, in ASCII, by which its lists are signed'),
    fingerprint: z
      .string()
      .regex(/^(?:[0-9A-F]{40}|[0-9A-F]{64})$/)
      .optional()
      .describe('of the primary key that signs; without it the key of the first time is held to'),
    packages: z.array(packageName).min(1).describe('all of one version; the first one tells it'),
  }),
);
