// The schema of what other plugins say of services that can be moved.
import { z } from 'zod';
import type { PointOptions } from '#core';

const texts = z.record(z.string(), z.string());

export const servicePoint: PointOptions = {
  schema: z.looseObject({
    configKey: z.string().regex(/^[a-z][a-z0-9_]{0,30}$/),
    databases: z
      .array(
        z.looseObject({
          label: z.enum(['main', 'log']),
          files: z.array(z.string()).min(1),
          option: z.string(),
          name: z.string().min(1),
          instanceName: z.string().includes('<slug>'),
          setting: z.string().optional(),
        }),
      )
      .min(1)
      .refine(([first]) => first?.label === 'main', 'the first database must have the label main'),
    minimumVersion: z
      .string()
      .regex(/^\d+(?:\.\d+){0,3}$/)
      .optional(),
    versions: z.looseObject({ table: z.string(), column: z.string() }),
    keyTables: z.array(z.string()),
    overridingVariables: z.string().min(1),
    settingsFile: z.string(),
    settingsRoot: z.string(),
    settings: texts,
    helper: z.looseObject({
      arguments: texts,
      flags: z.array(z.string()).optional(),
      settings: texts,
      logSetting: z.string().optional(),
      withoutVariables: z.string().min(1),
      readyPath: z.string().startsWith('/'),
    }),
  }),
};
