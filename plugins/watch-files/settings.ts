// The key of a process block that names files whose changes restart the service.
import { z } from 'zod';

const watched = z
  .string()
  .min(1)
  .refine(value => !value.includes('\0'), 'it must not hold a NUL character');

const watchKey = z.union([
  watched,
  z.array(watched),
  z.looseObject({
    paths: z.union([watched, z.array(watched)]).describe('files and directories'),
    ignore: z
      .array(z.string().min(1))
      .optional()
      .describe('what changes nothing: names such as *.log anywhere, or paths below those that are watched'),
    delay_seconds: z
      .number()
      .min(0.1)
      .max(3_600)
      .optional()
      .describe('how long nothing may have changed before the restart; default 1'),
  }),
]);

type WatchKey = z.output<typeof watchKey>;

/** Without defaults, because an editor in a browser would write them into the block. */
export const watchBlock = z.looseObject({
  watch: watchKey
    .optional()
    .meta({ live: true, fallback: true })
    .describe(
      'files and directories, relative to config_dir, whose changes restart it; .git, node_modules and its log never do',
    ),
});

export interface WatchSettings {
  readonly paths: readonly string[];
  readonly ignore: readonly string[];
  readonly delayMs: number;
}

export function watchOf(block: Readonly<Record<string, unknown>>): WatchSettings | undefined {
  const key = block.watch as WatchKey | undefined;
  if (key === undefined) return undefined;
  const said = typeof key === 'string' || Array.isArray(key) ? { paths: key } : key;
  const { paths, ignore = [], delay_seconds: seconds = 1 } = said as Exclude<WatchKey, string | string[]>;
  return { paths: typeof paths === 'string' ? [paths] : paths, ignore, delayMs: seconds * 1_000 };
}
