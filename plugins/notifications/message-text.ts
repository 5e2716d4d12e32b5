// Brings the texts of a message within what a service accepts: cut, or split into several messages.
import type { Message, MessageLimits, Severity } from './contract.ts';
import type { UrlOptions } from './destination-url.ts';

const ELLIPSIS = '...';
/** More parts of one message would look like an attack to any service. */
const MAX_PARTS = 20;
const LOOKS = {
  info: { type: 'info', color: 0x3a8fd9 },
  success: { type: 'success', color: 0x2e9e44 },
  warning: { type: 'warning', color: 0xe0a800 },
  critical: { type: 'failure', color: 0xc0392b },
} as const satisfies Record<Severity, Pick<Message, 'type' | 'color'>>;

type Unit = NonNullable<MessageLimits['unit']>;

/** What is known of a message before it has a destination. */
export type MessageFacts = Omit<Message, 'text' | 'type' | 'color' | 'format'>;

/** The messages to send, in order: one, unless the URL asks for splitting and the body is too long. */
export function messagesFor(
  facts: MessageFacts,
  limits: MessageLimits = {},
  { format, overflow }: Pick<UrlOptions, 'format' | 'overflow'> = { format: 'text', overflow: 'truncate' },
): Message[] {
  const look = { ...LOOKS[facts.severity], format };
  const joined = (title: string, body: string): string => (title === '' ? body : `${title}\n${body}`);
  if (overflow === 'upstream') return [{ ...facts, ...look, text: joined(facts.title, facts.body) }];
  const { unit = 'characters' } = limits;
  const title = cut(facts.title, Math.min(limits.title ?? Infinity, limits.total ?? Infinity), unit);
  const room = Math.min(limits.body ?? Infinity, (limits.total ?? Infinity) - sizeOf(title, unit));
  const textRoom = limits.text ?? Infinity;
  if (overflow === 'truncate') {
    const text = cut(joined(title, facts.body), textRoom, unit);
    return [{ ...facts, ...look, title, body: cut(facts.body, room, unit), text }];
  }
  const smallest = Math.min(room, textRoom === Infinity ? Infinity : textRoom - sizeOf(joined(title, ''), unit));
  return split(facts.body, Math.max(smallest, ELLIPSIS.length + 1), unit).map(body => ({
    ...facts,
    ...look,
    title,
    body,
    text: joined(title, body),
  }));
}

function split(text: string, limit: number, unit: Unit): string[] {
  const parts: string[] = [];
  let rest = text;
  while (sizeOf(rest, unit) > limit && parts.length < MAX_PARTS - 1) {
    const part = head(rest, limit, unit);
    parts.push(part);
    rest = rest.slice(part.length);
  }
  return [...parts, cut(rest, limit, unit)];
}

function cut(text: string, limit: number, unit: Unit): string {
  if (sizeOf(text, unit) <= limit) return text;
  return limit <= ELLIPSIS.length
    ? head(text, Math.max(limit, 0), unit)
    : head(text, limit - ELLIPSIS.length, unit) + ELLIPSIS;
}

/** The longest beginning within the limit that divides no character. */
function head(text: string, limit: number, unit: Unit): string {
  let size = 0;
  let end = 0;
  for (const character of text) {
    size += sizeOf(character, unit);
    if (size > limit) break;
    end += character.length;
  }
  return text.slice(0, end);
}

function sizeOf(text: string, unit: Unit): number {
  return unit === 'bytes' ? Buffer.byteLength(text) : text.length;
}
