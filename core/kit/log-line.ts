// Formats the lines of the host's own log and of service logs: `Apr 2, 2025 10:04:01 - INFO - text`, in local time.
import type { CapturedLines, LogLevel, LogLine } from '../contract/log.ts';

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** Lines come in bursts, so the formatted time of the latest second is kept. */
let cachedSecond = -1;
let cachedTime = '';

/** Several readers of these logs accept exactly one space before the day, so it is not padded. */
function formatTime(at: number): string {
  const second = Math.floor(at / 1_000);
  if (second === cachedSecond) return cachedTime;
  const date = new Date(at);
  const clock = [date.getHours(), date.getMinutes(), date.getSeconds()]
    .map(part => String(part).padStart(2, '0'))
    .join(':');
  cachedSecond = second;
  cachedTime = `${MONTHS[date.getMonth()]} ${date.getDate()}, ${date.getFullYear()} ${clock}`;
  return cachedTime;
}

/** One line without a line break; `at` is in milliseconds since the epoch. */
export function formatLine(at: number, level: LogLevel, text: string): string {
  return `${formatTime(at)} - ${level} - ${text}`;
}

/**
 * A record as written to the host's own log and shown in its live stream. `color` is an escape sequence for terminals.
 */
export function formatRecord({ at, level, text, processName }: LogLine, color = ''): string {
  const shown = processName === undefined ? text : `${processName} subprocess: ${text}`;
  return formatLine(at, level, color === '' ? shown : `${color}${shown}\x1b[0m`);
}

/** Same as `formatRecord`, with a time such as `Apr 2, 2025 10:04:01.007`. */
export function formatRecordWithMilliseconds(record: LogLine, color = ''): string {
  const time = formatTime(record.at);
  const milliseconds = String(record.at % 1_000).padStart(3, '0');
  return `${time}.${milliseconds}${formatRecord(record, color).slice(time.length)}`;
}

/** A record as an object in one line, with its time in UTC; the time and the level come first. */
export function formatRecordAsJson({ at, level, text, processName }: LogLine): string {
  return JSON.stringify({ time: new Date(at).toISOString(), level, process: processName, message: text });
}

/** The records of which a block of captured lines was formatted. */
export function recordsOf({ at, processName, block }: CapturedLines): LogLine[] {
  const levelAt = formatLine(at, 'INFO', '').indexOf('INFO');
  const nameLength =
    formatRecord({ at, level: 'INFO', text: '', processName }).length - formatLine(at, 'INFO', '').length;
  const lines = Buffer.from(block.buffer, block.byteOffset, block.length).toString().split('\n').slice(0, -1);
  return lines.map(line => {
    const levelEnd = line.indexOf(' - ', levelAt);
    const textAt = levelEnd + ' - '.length + nameLength;
    return { at, level: line.slice(levelAt, levelEnd) as LogLevel, text: line.slice(textAt), processName };
  });
}

/** The local date as `2025-04-02`; `at` is in milliseconds since the epoch. */
export function formatDay(at: number): string {
  const date = new Date(at);
  return [date.getFullYear(), date.getMonth() + 1, date.getDate()].map(part => String(part).padStart(2, '0')).join('-');
}
