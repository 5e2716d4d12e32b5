// Findings from recorded changes: a key that was changed while a key is refused.
import { isObject } from '#kit/plain-object';
import type { Finding } from './finding.ts';

const KEY_WEIGHT = 96;
const MASK = '[REDACTED]';
/** Findings that a changed key may explain. */
const REFUSALS = ['key-refused', 'database-login-refused'];

/** `history` is the member `change_history`; `found` are the other findings. */
export function changeFindings(history: unknown, found: readonly Finding[]): Finding[] {
  const refusal = found.find(({ id }) => REFUSALS.includes(id));
  if (refusal === undefined || !Array.isArray(history)) return [];
  return history.filter(isObject).flatMap(({ at, details }): Finding[] => {
    const changes = isObject(details) && Array.isArray(details.changes) ? details.changes.filter(isObject) : [];
    const secrets = changes.filter(({ before, after }) => before === MASK || after === MASK);
    if (secrets.length === 0) return [];
    const names = secrets.map(({ path }) => path).join(', ');
    return [
      {
        id: 'key-changed',
        title: 'A key was changed, and a key is refused since',
        risk: 'medium',
        facts: `${names} changed at ${at}. ${refusal.facts}`,
        advice: 'Enter the same key on both sides.',
        weight: KEY_WEIGHT,
      },
    ];
  });
}
