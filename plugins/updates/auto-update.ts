// The settings of automatic updates, read from the keys of a service block; invalid values are replaced by defaults.

const DEFAULT_INTERVAL_H = 24;
const MAX_INTERVAL_H = 8_760;
const DEFAULT_START = '04:00';
const TIME_OF_DAY = /^(?:[01][0-9]|2[0-3]):[0-5][0-9]$/;

export interface AutoUpdate {
  readonly enabled: boolean;
  readonly mode: 'install' | 'check_only';
  readonly intervalHours: number;
  /** HH:MM. */
  readonly startTime: string;
  /** A sentence about an invalid value that is not used; null when there is none. */
  readonly warning: string | null;
}

export function autoUpdate(block: Readonly<Record<string, unknown>>): AutoUpdate {
  const { auto_update_interval: interval, auto_update_start_time: start } = block;
  const isTime = typeof start === 'string' && TIME_OF_DAY.test(start);
  const isUnset = start === undefined || start === '';
  return {
    enabled: block.auto_update === true,
    mode: block.auto_update_mode === 'check_only' ? 'check_only' : 'install',
    intervalHours: intervalOf(interval),
    startTime: isTime ? start : DEFAULT_START,
    warning: isTime || isUnset ? null : `auto_update_start_time is no time as HH:MM, so ${DEFAULT_START} is used`,
  };
}

function intervalOf(value: unknown): number {
  const hours = typeof value === 'number' && Number.isFinite(value) ? value : DEFAULT_INTERVAL_H;
  return Math.min(MAX_INTERVAL_H, Math.max(1, hours));
}
