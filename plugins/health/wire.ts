// The wire form of the answer of `/health`.
import { z } from 'zod';
import { redact } from '#kit/redact';
import type { Evaluation } from './evaluation.ts';

const MAX_DETAILS = 200;

export const answerSchema = z.object({
  status: z.enum(['healthy', 'unhealthy']),
  details: z.string().max(MAX_DETAILS).optional().describe('only when unhealthy; without credentials a count'),
  phase: z.string(),
});

/** Callers that have not authenticated receive only the number of failures. */
export function toWire({ phase, failures }: Evaluation, trusted: boolean): z.input<typeof answerSchema> {
  if (failures.length === 0) return { status: 'healthy', phase };
  const count = failures.length === 1 ? '1 check failed' : `${failures.length} checks failed`;
  const text = redact(failures.join('; ').replaceAll(/\s+/g, ' '));
  const shown = text.length > MAX_DETAILS ? `${text.slice(0, MAX_DETAILS - 1)}…` : text;
  return { status: 'unhealthy', details: trusted ? shown : count, phase };
}
