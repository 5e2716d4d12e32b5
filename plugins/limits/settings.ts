// The keys of a process block that limit what its processes use of the machine.
import { z } from 'zod';

const BYTES_PER_UNIT: Readonly<Record<string, number>> = { '': 1, k: 2 ** 10, m: 2 ** 20, g: 2 ** 30, t: 2 ** 40 };
const SIZE = /^(\d{1,15}(?:\.\d{1,3})?) ?([kmgt]?)(?:i?b)?$/i;

const size = z
  .union([z.number(), z.string()])
  .refine(value => bytesOf(value) >= 1, 'it must be a number of bytes, or a text such as 512M or 2G');

/** Without defaults, because an editor in a browser would write them into the block. */
export const limitsBlock = z.looseObject({
  nice: z
    .number()
    .int()
    .min(-20)
    .max(19)
    .optional()
    .meta({ fallback: true })
    .describe('priority on the processors, from -20 (first) to 19 (last)'),
  limits: z
    .looseObject({
      memory: size.optional().describe('most memory, such as 512M'),
      cpu: z.number().min(0.01).max(4_096).optional().describe('most processors at once, such as 1.5'),
      open_files: z.number().int().min(8).max(1_048_576).optional().describe('most open files of each process'),
    })
    .optional()
    .describe(
      'bounds for all its processes together where Stackwarden may write cgroups; else memory is bounded for each process, ' +
        'and cpu not at all',
    ),
  memory_restart: size
    .optional()
    .meta({ live: true, fallback: true })
    .describe('it is restarted when its processes together take more memory than this, such as 800M'),
});

export interface LimitKeys {
  readonly nice?: number;
  readonly limits?: { readonly memory?: number | string; readonly cpu?: number; readonly open_files?: number };
  readonly memory_restart?: number | string;
}

/** The size in bytes; NaN for a text that is no size. */
export function bytesOf(value: number | string): number {
  if (typeof value === 'number') return Math.floor(value);
  const [, amount, unit = ''] = SIZE.exec(value.trim()) ?? [];
  return Math.floor(Number(amount) * (BYTES_PER_UNIT[unit.toLowerCase()] ?? Number.NaN));
}
