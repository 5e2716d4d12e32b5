// The schema of `migration.service`, by which other plugins name the services that can be moved.
import { z } from 'zod';
import type { PointOptions } from '#core';

const texts = z.record(z.string(), z.string());
const upperCase = z.string().regex(/^[A-Z][A-Z0-9_]*$/);

const database = z.looseObject({
  label: z.enum(['main', 'log']),
  files: z.array(z.string()).min(1),
  option: z.string(),
  name: z.string().min(1),
  instanceName: z.string().includes('<slug>'),
  setting: z.string().optional(),
});

const helper = z
  .looseObject({
    arguments: texts.optional(),
    flags: z.array(z.string()).optional(),
    script: z.array(z.string()).min(1).optional(),
    isInPlace: z.boolean().optional(),
    variables: texts.optional(),
    withoutVariables: upperCase,
    settings: texts.optional(),
    logSetting: z.string().optional(),
    settingsText: z.string().optional(),
    readyPath: z.string().startsWith('/').optional(),
  })
  .refine(
    ({ script, readyPath }) => (script === undefined) !== (readyPath === undefined),
    'a helper has either a readyPath or a script',
  );

export const servicePoint: PointOptions = {
  schema: z
    .looseObject({
      configKey: z.string().regex(/^[a-z][a-z0-9_]{0,30}$/),
      data: z
        .looseObject({ argument: z.string().optional(), variable: z.string().optional(), otherwise: z.string() })
        .optional(),
      databases: z
        .array(database)
        .min(1)
        .refine(([first]) => first?.label === 'main', 'the first database must have the label main'),
      minimumVersion: z
        .string()
        .regex(/^\d+(?:\.\d+){0,3}$/)
        .optional(),
      versions: z.looseObject({
        table: z.string(),
        column: z.string(),
        common: z.enum(['highest', 'all', 'nothing']).optional(),
      }),
      bookkeeping: z.array(z.string()).optional(),
      keyTables: z.array(z.string()),
      overridingVariables: z.array(upperCase),
      settingsFile: z.string().optional(),
      settingsRoot: z.string().optional(),
      settings: texts.optional(),
      variables: texts.optional(),
      helper,
    })
    .refine(
      ({ settings, variables }) => (settings === undefined) !== (variables === undefined),
      'a service is pointed at PostgreSQL by either settings or variables',
    )
    .refine(
      ({ settings, settingsFile, helper: { settingsText } }) =>
        settingsFile !== undefined || (settings === undefined && settingsText === undefined),
      'settings need a settingsFile',
    ),
};
