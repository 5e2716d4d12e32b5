// The issues of a value that does not fit a schema, each at the member that is wrong, also where the schema has
// alternatives.
import type { z } from 'zod';

/** How deep alternatives within alternatives are looked into. */
const MAX_DEPTH = 20;

export function shapeIssues(error: z.ZodError): z.core.$ZodIssue[] {
  return error.issues.flatMap(issue => unfolded(issue));
}

/**
 * Replaces an issue of alternatives by those of the alternative that was meant: the only one of which just members do
 * not fit.
 */
function unfolded(issue: z.core.$ZodIssue, depth = 0): z.core.$ZodIssue[] {
  if (issue.code !== 'invalid_union' || depth > MAX_DEPTH) return [issue];
  const meant = issue.errors.filter(issues => issues.length > 0 && issues.every(isOfMember));
  const [only] = meant;
  if (only === undefined || meant.length > 1) return [issue];
  return only.flatMap(inner => unfolded({ ...inner, path: [...issue.path, ...inner.path] }, depth + 1));
}

function isOfMember({ path, code }: z.core.$ZodIssue): boolean {
  return path.length > 0 || code === 'unrecognized_keys';
}
