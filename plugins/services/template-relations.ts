// The part of a template about other services: what the service needs, waits for, serves and mounts.
import { z } from 'zod';

const texts = z.array(z.string());

/** Holds while the service's own block has the option set. */
const ownOption = z.strictObject({
  option: z.string().describe('must be true'),
  whileEnabled: z.literal(true).optional().describe('a service that is switched off needs nothing'),
  inFile: texts.optional().describe('or while its own file has a text at each of these places'),
});
const need = z.union([
  z.enum(['always', 'dependency-enabled', 'dependency-enabled-and-linked']),
  ownOption,
  z.strictObject({ dependencyOption: z.string().describe('needed are those whose block has it true') }),
  z.strictObject({ namedBy: z.string().describe('option that names the kind of the needed; core_service may too') }),
]);

export const relations = z.strictObject({
  core: z
    .strictObject({
      needs: texts,
      dropped: texts.optional(),
      droppedWhen: z
        .union([z.literal('built-from-source'), z.strictObject({ option: z.string(), isNot: z.string() })])
        .optional(),
      builtIn: z
        .array(z.strictObject({ component: z.string(), has: z.string(), lacks: z.string() }))
        .optional()
        .describe('components that an installed release brings along, by files below its config_dir'),
    })
    .optional(),
  nonCore: texts.optional(),
  conditional: z
    .array(z.strictObject({ needs: texts, when: need, scope: z.enum(['service', 'instance', 'dependency-instance']) }))
    .optional(),
  soft: z.array(z.strictObject({ signal: z.string(), linkedTo: texts })).optional(),
});

export const wait = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('mounts'), of: z.literal('mount-providers') }),
  z.strictObject({
    kind: z.literal('url'),
    services: texts.describe('each of their enabled entries is asked'),
    path: z.string().startsWith('/'),
    member: z.string().optional().describe('dotted path that the JSON of the answer must have'),
    address: z
      .string()
      .optional()
      .describe('place of a value of the configuration: where they are reached instead, where it is set'),
    linked: z.literal(true).optional().describe('only those that core_service names, when it names any'),
  }),
]);

/** Path at which a service mounts a file system. */
export const mounts = z.strictObject({
  path: z.string().describe('with options of its block in braces'),
  when: z.strictObject({ option: z.string(), values: texts }).optional().describe('only while an option says so'),
});

/** Files that a mount provider shows as a file system. Addresses may contain options of the block in braces. */
export const serves = z.strictObject({
  signal: z.string().describe('last word of the dependency signal of its mounts'),
  what: z.string().describe('begins the sentence that says what a mount needs'),
  switch: z.string().optional().describe('option of a mount that chooses it'),
  byKind: z.literal(true).optional().describe('key_type of a mount may name it'),
  byLink: z.literal(true).optional().describe('core_service of a mount may name it'),
  file: z.string().optional().describe('option of a mount that names the config_file of one instance'),
  url: z.string(),
  user: z.string().optional(),
  password: z.string().optional(),
  library: z.literal(true).optional().describe('what it serves is read far more often than it changes'),
  control: z.literal(true).optional().describe('it tells its mount what changed'),
});
