// Wire shapes of the log routes.
import { z } from 'zod';
import type { LogHub } from '#core';
import { queryInteger } from '#kit/query-values';
import type { LogPage } from './log-page.ts';

const DEFAULT_TAIL_BYTES = 131_072;

export const pageQuery = z.object({
  process_name: z.string(),
  cursor: queryInteger({ min: 0 }).optional().describe('offset returned before'),
  tail_bytes: queryInteger({ min: 1_024, max: 8_388_608 }).default(DEFAULT_TAIL_BYTES),
  file_id: z.string().max(128).optional(),
  rest: z
    .enum(['true'])
    .optional()
    .describe('also what the file of file_id still had, where the log was rotated since'),
});

export const pageAnswer = z.lazy(() =>
  z.object({
    process_name: z.string(),
    size: z.number(),
    cursor: z.number().describe('offset for the next request'),
    chunk: z.string().describe('complete lines'),
    reset: z.boolean().describe('true: replace what is shown'),
    file_id: z.string().nullable(),
    rest: z
      .string()
      .optional()
      .describe('what came before chunk, in the file that was rotated; only where it was asked for'),
    log: z.string().optional().describe('copy of chunk for older clients, only without a cursor'),
  }),
);

type PageAnswer = Readonly<z.input<typeof pageAnswer>>;

export class PageAnswers {
  readonly #known = new WeakMap<LogPage, PageAnswer>();

  /** Frozen, and the same object for the same page and name. `isFirst` is true for a request without a cursor. */
  of(page: LogPage, processName: string, isFirst: boolean): PageAnswer {
    const known = this.#known.get(page);
    if (known?.process_name === processName && (known.log !== undefined) === isFirst) return known;
    const { size, cursor, chunk, reset, fileId } = page;
    const answer = { process_name: processName, size, cursor, chunk, reset, file_id: fileId };
    const made = Object.freeze(isFirst ? { ...answer, log: chunk } : answer);
    this.#known.set(page, made);
    return made;
  }
}

const level = z.enum(['DEBUG', 'INFO', 'WARNING', 'ERROR', 'CRITICAL']);

export const levelsBody = z.strictObject({ debug_enabled: z.boolean() });

export const levelsAnswer = z.lazy(() =>
  z.object({
    configured_level: level,
    configured_uvicorn_level: level.describe('of the API'),
    effective_level: level,
    debug_enabled: z.boolean(),
    override_active: z.boolean(),
    temporary: z.boolean(),
    resets_on_restart: z.boolean(),
  }),
);

export function levelsToWire(hub: LogHub): z.input<typeof levelsAnswer> {
  const overridden = hub.debugOverridden();
  return {
    configured_level: hub.configuredLevel(),
    configured_uvicorn_level: hub.configuredHttpLevel(),
    effective_level: hub.level(),
    debug_enabled: hub.level() === 'DEBUG',
    override_active: overridden,
    temporary: overridden,
    resets_on_restart: true,
  };
}
