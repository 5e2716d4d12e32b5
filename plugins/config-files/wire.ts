// The schemas of what the route of service files receives and answers.
import { z } from 'zod';
import { isObject } from '#kit/plain-object';
import type { FileObject } from './contract.ts';

/** No `z.record`, which would drop a member that is called `__proto__`: a file may have one. */
const values = z.custom<FileObject>(isObject).meta({ type: 'object', additionalProperties: {} });

export const body = z.lazy(() =>
  z.object({
    service_name: z.string().describe('a process name'),
    updates: z.union([z.string(), values]).nullable().optional().describe('absent or empty: the file is read'),
    config_format: z.string().nullable().optional(),
    mode: z.enum(['merge', 'replace']).optional(),
    revision: z.string().nullable().optional().describe('the version that the update is meant for'),
  }),
);

export const answer = z.lazy(() =>
  z.object({
    status: z.literal('updated').optional(),
    service: z.string(),
    service_path: z.string().describe('dotted path of the block'),
    config_format: z.string().optional(),
    config: values.optional(),
    raw: z.string().optional(),
    changed: z.number().int().optional().describe('how many values were edited'),
    warnings: z.array(z.string()).optional(),
    revision: z.string(),
  }),
);
