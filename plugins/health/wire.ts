// The wire form of the answer of `/health`.
import { z } from 'zod';
import { redact } from '#kit/redact';
import type { Evaluation } from './evaluation.ts';

const MAX_DETAILS = 200;
/** How many values that do not fit are named. */
const MAX_PLACES = 3;

export const answerSchema = z.lazy(() =>
  z.object({
    status: z.enum(['healthy', 'unhealthy']),
    details: z
      .string()
      .max(MAX_DETAILS)
      .optional()
      .describe(
        'when unhealthy, when the configuration has what is not used, or a part of the host does not do all of its work; without credentials nothing but a count of failures',
      ),
    phase: z.string(),
  }),
);

/** Callers that have not authenticated receive only the number of failures. */
export function toWire(evaluation: Evaluation, trusted: boolean): z.input<typeof answerSchema> {
  const { phase, failures } = evaluation;
  const isHealthy = failures.length === 0;
  const sentences = trusted ? trustedSentences(evaluation) : isHealthy ? [] : [countOf(failures)];
  const text = redact(sentences.join('; ').replaceAll(/\s+/g, ' '));
  const details = text.length > MAX_DETAILS ? `${text.slice(0, MAX_DETAILS - 1)}…` : text;
  return { status: isHealthy ? 'healthy' : 'unhealthy', ...(details === '' ? {} : { details }), phase };
}

function trustedSentences({ failures, problems, unusedChange, notes }: Evaluation): readonly string[] {
  const sentences = [...failures, ...notes];
  // What to do comes first, because a long reason is cut off.
  if (unusedChange !== null)
    sentences.push(`mend the configuration file, whose last change is not used: ${unusedChange}`);
  const more = problems.length > MAX_PLACES ? ` and ${problems.length - MAX_PLACES} more` : '';
  const places = problems.slice(0, MAX_PLACES).join(', ') + more;
  if (places !== '') sentences.push(`the configuration has values that do not fit (${places}); see the log`);
  return sentences;
}

function countOf({ length }: readonly string[]): string {
  return length === 1 ? '1 check failed' : `${length} checks failed`;
}
