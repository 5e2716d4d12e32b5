// Facts about each application of the family, from the templates.
import { z } from 'zod';
import type { Logger } from '#core';
import type { ServiceTemplates } from '../services/contract.ts';

const facts = z.lazy(() =>
  z.strictObject({
    api: z.string().describe('version of its API'),
    role: z
      .enum(['manager', 'indexer'])
      .describe('manager: it manages media; indexer: it manages where they are sought'),
    media: z.string().default('').describe('what a manager manages, in one word'),
    rootFolderProfiles: z.boolean().default(false).describe('a root folder names the profiles of what is found in it'),
    leaving: z
      .object({
        switch: z.string().describe('option with which its data are in the managed server'),
        settings: z
          .array(z.string())
          .describe('of its file, which lead there; it goes its own way where they are blank'),
      })
      .optional(),
    categories: z.array(z.int()).default([]).describe('first numbers of the categories that it asks indexers for'),
  }),
);

export type ArrFacts = z.output<typeof facts>;

/** Facts by config key. A template whose facts are not valid is left out, with an error in the log. */
export function familyOf(templates: ServiceTemplates | undefined, log: Logger): ReadonlyMap<string, ArrFacts> {
  const members = templates?.list().filter(({ family }) => family === 'arr') ?? [];
  return new Map(
    members.flatMap(template => {
      const { success, data, error } = facts.safeParse(template.facts);
      if (!success) log.error(`the template of ${template.key} does not say what its family must know`, error);
      return success ? [[template.key, data] as const] : [];
    }),
  );
}

export function managersOf(family: ReadonlyMap<string, ArrFacts>): string[] {
  return [...family].flatMap(([kind, { role }]) => (role === 'manager' ? [kind] : []));
}
