// Findings from the analysis of logs.
import { isObject } from '#kit/plain-object';
import { knownCause } from '../logs/known-causes.ts';
import type { Finding } from './finding.ts';

const CAUSE_WEIGHT = 90;
/** The weight of a cause that is stated only by lines below the level of a warning. */
const MILD_WEIGHT = 55;
const NEW_ERRORS_WEIGHT = 20;
const RESTART_WEIGHT = 45;
const TIME_ZONE_WEIGHT = 88;
const MIN_RESTARTS = 3;
const QUOTED_CHARS = 240;
const HOUR_S = 3_600;

/** `analysis` is the analysis of one log. */
export function logFindings(processName: string, analysis: unknown): Finding[] {
  if (!isObject(analysis) || !isObject(analysis.coverage)) return [];
  return [
    ...causes(processName, analysis.known_causes),
    ...timeZone(processName, analysis.clock_offset_seconds),
    ...newErrors(processName, analysis),
    ...restarts(processName, analysis.restart_markers),
  ];
}

function causes(processName: string, found: unknown): Finding[] {
  if (!Array.isArray(found)) return [];
  return found.filter(isObject).flatMap(({ id, count, at, level, content }) => {
    const known = knownCause(String(id));
    if (known === undefined) return [];
    const { title, advice } = known.cause;
    const isSevere = level === 'error' || level === 'critical' || level === 'warning';
    const lines = count === 1 ? 'A line' : `${count} lines`;
    return [
      {
        id: known.cause.id,
        title,
        facts: `${lines} of ${processName}, last at ${at}: "${quoted(content)}".`,
        advice,
        weight: (isSevere ? CAUSE_WEIGHT : MILD_WEIGHT) - known.rank / 2,
      },
    ];
  });
}

function timeZone(processName: string, seconds: unknown): Finding[] {
  if (typeof seconds !== 'number' || seconds === 0) return [];
  const hours = Math.abs(seconds) / HOUR_S;
  return [
    {
      id: 'time-zone',
      title: 'A service lives in another time zone',
      facts: `The times in the log of ${processName} are ${hours} h ${seconds > 0 ? 'ahead of' : 'behind'} those of its file.`,
      advice: 'Set TZ to the same zone for the host and the service.',
      weight: TIME_ZONE_WEIGHT,
    },
  ];
}

function newErrors(
  processName: string,
  { levels, new_error_signatures: signatures }: Record<string, unknown>,
): Finding[] {
  const { error = 0, critical = 0 } = isObject(levels) ? levels : {};
  const count = Number(error) + Number(critical);
  if (!(count > 0)) return [];
  const [first] = Array.isArray(signatures) ? signatures.filter(isObject) : [];
  const example = first === undefined ? '' : ` New among them: "${quoted(first.signature)}".`;
  return [
    {
      id: 'review-new-errors',
      title: 'Review the errors in the log',
      facts: `${count} ${count === 1 ? 'error' : 'errors'} of ${processName} in this window.${example}`,
      advice: 'Look at the first of them, which often causes the rest.',
      weight: NEW_ERRORS_WEIGHT,
    },
  ];
}

function restarts(processName: string, count: unknown): Finding[] {
  if (typeof count !== 'number' || count < MIN_RESTARTS) return [];
  return [restartLoop(`The log of ${processName} tells of ${count} starts in this window.`, RESTART_WEIGHT)];
}

/** The finding of a restart loop, which logs and the supervisor share. */
export function restartLoop(facts: string, weight: number): Finding {
  return {
    id: 'review-restart-loop',
    title: 'A service starts again and again',
    risk: 'medium',
    facts,
    advice: 'Look at its last lines before each end.',
    weight,
  };
}

function quoted(text: unknown): string {
  const line = String(text).replaceAll(/\s+/g, ' ');
  return line.length <= QUOTED_CHARS ? line : `${line.slice(0, QUOTED_CHARS)}...`;
}
