// The schema of a member that is a function, for points of contributions.
import { z } from 'zod';

/** What it gives is checked when it is called. */
export const functionSchema = z.custom<(...args: never[]) => unknown>(
  value => typeof value === 'function',
  'it must be a function',
);
