// The schema of a function, for members of contributions.
import { z } from 'zod';

/** Accepts any function; results are checked when it is called. */
export const functionSchema = z.custom<(...args: never[]) => unknown>(
  value => typeof value === 'function',
  'it must be a function',
);
