// The key of a process block that says at which times the service is started.
import { Cron } from 'croner';
import { z } from 'zod';
import { isTimeZone } from '#kit/time-zone';

const cron = z
  .string()
  .refine(isCron, 'it must be a cron expression of five fields, or six with seconds in front, such as 0 3 * * *');
const timeZone = z.string().refine(isTimeZone, 'it must be the name of a time zone, such as Europe/Berlin');

const scheduleKey = z.union([
  cron,
  z.looseObject({
    cron: cron.describe('the times'),
    time_zone: timeZone.optional().describe('default: tz of the configuration'),
    overlap: z
      .enum(['skip', 'restart'])
      .optional()
      .describe('what happens at a time at which it still runs; default skip'),
    missed: z
      .enum(['skip', 'run'])
      .optional()
      .describe(
        'run: it runs once when a time has passed while Stackwarden did not run, or the clock was set ahead over it by hours; default skip',
      ),
  }),
]);

type ScheduleKey = z.output<typeof scheduleKey>;

/** Without defaults, because an editor in a browser would write them into the block. */
export const scheduleBlock = z.looseObject({
  schedule: scheduleKey
    .optional()
    .meta({ live: true, fallback: true })
    .describe('cron expression of the times at which it is started, instead of at boot'),
});

export interface ScheduleSettings {
  readonly cron: string;
  /** undefined for the time zone of the configuration. */
  readonly timeZone: string | undefined;
  readonly restarts: boolean;
  readonly makesUp: boolean;
}

export function scheduleOf(block: Readonly<Record<string, unknown>>): ScheduleSettings | undefined {
  const key = block.schedule as ScheduleKey | undefined;
  if (key === undefined) return undefined;
  if (typeof key === 'string') return { cron: key, timeZone: undefined, restarts: false, makesUp: false };
  const { time_zone: zone, overlap, missed } = key;
  return { cron: key.cron, timeZone: zone, restarts: overlap === 'restart', makesUp: missed === 'run' };
}

function isCron(text: string): boolean {
  try {
    return new Cron(text, { paused: true }).nextRun() !== null;
  } catch {
    return false;
  }
}
