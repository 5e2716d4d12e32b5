// The key of a process block that names files with variables.
import path from 'node:path';
import { z } from 'zod';

const file = z
  .string()
  .min(1)
  .refine(value => !value.includes('\0'), 'it must not hold a NUL character');
const entry = z.union([
  file,
  z.looseObject({
    path: file.describe('the file'),
    required: z.boolean().optional().describe('false: the service starts without it, too'),
  }),
]);
const envFile = z.union([entry, z.array(entry)]);

export type EnvFileKey = z.output<typeof envFile>;

/** Without defaults, because an editor in a browser would write them into the block. */
export const envFileBlock = z.looseObject({
  env_file: envFile
    .optional()
    .meta({ decidesProgram: 'files' })
    .describe(
      'files with lines NAME=value that are read at each start, as the user of the service; later ones win, and `env` ' +
        'over all; a relative path begins at the configuration directory',
    ),
});

export interface EnvFile {
  readonly path: string;
  readonly required: boolean;
}

/** The files of the key, in their order; relative paths start at `configDir`. */
export function filesOf(key: EnvFileKey | undefined, configDir: string): readonly EnvFile[] {
  const entries = key === undefined ? [] : Array.isArray(key) ? key : [key];
  return entries.map(item => {
    const { path: name, required = true } = typeof item === 'string' ? { path: item } : item;
    return { path: path.resolve(configDir, name), required };
  });
}
