// Explains why a value that a plugin gave does not fit its schema.
import type { z } from 'zod';

/** The path of the first member that does not fit and the reason, never the value; undefined when everything fits. */
export function misfitOf(schema: z.ZodType, value: unknown): string | undefined {
  const result = schema.safeParse(value);
  if (result.success) return undefined;
  const [issue] = result.error.issues;
  if (issue === undefined) return 'it does not fit';
  return issue.path.length === 0 ? issue.message : `${issue.path.map(String).join('.')}: ${issue.message}`;
}
