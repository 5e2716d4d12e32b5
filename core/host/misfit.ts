// Why a value that a plugin gave is not what was asked for.
import type { z } from 'zod';

/** The place of the first member that does not fit and the reason, never the value; undefined when all of it fits. */
export function misfitOf(schema: z.ZodType, value: unknown): string | undefined {
  const result = schema.safeParse(value);
  if (result.success) return undefined;
  const [issue] = result.error.issues;
  if (issue === undefined) return 'it does not fit';
  return issue.path.length === 0 ? issue.message : `${issue.path.map(String).join('.')}: ${issue.message}`;
}
