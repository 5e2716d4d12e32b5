// Brings the texts of a message within the limits of a service: by cutting, or by splitting into several messages.
import type { Message, MessageLimits, NotificationDestination, Severity } from './contract.ts';
import type { UrlOptions } from './destination-url.ts';

const ELLIPSIS = '...';
/** The greatest number of parts: a service might take more of them for an attack. */
const MAX_PARTS = 20;
const LOOKS = {
  info: { type: 'info', color: 0x3a8fd9 },
  success: { type: 'success', color: 0x2e9e44 },
  warning: { type: 'warning', color: 0xe0a800 },
  critical: { type: 'failure', color: 0xc0392b },
} as const satisfies Record<Severity, Pick<Message, 'type' | 'color'>>;

/** Invisible, but keeps a service from reading a mention. */
const ZERO_WIDTH_SPACE = '\u200b';
const MARKDOWN: Readonly<Record<string, string>> = {
  ...Object.fromEntries([...'\\*_~`|<>[]#'].map(sign => [sign, `\\${sign}`])),
  '@': `@${ZERO_WIDTH_SPACE}`,
};

/** How a text is written for a service. */
interface Spelling {
  readonly unit: NonNullable<MessageLimits['unit']>;
  /** The replacement for each character that must be escaped. */
  readonly escapes: Readonly<Record<string, string>>;
}

/** The members of a message that do not depend on its destination. */
export type MessageFacts = Omit<Message, 'text' | 'type' | 'color' | 'format'>;

/** The messages to send, in order: one, unless the URL asks for splitting and the body is too long. */
export function messagesFor(
  facts: MessageFacts,
  { limits = {}, escapes }: Pick<NotificationDestination, 'limits' | 'escapes'>,
  { format, overflow }: Pick<UrlOptions, 'format' | 'overflow'> = { format: 'text', overflow: 'truncate' },
): Message[] {
  const look = { ...LOOKS[facts.severity], format };
  const spelling = {
    unit: limits.unit ?? 'characters',
    escapes: format === 'text' ? ((escapes === 'markdown' ? MARKDOWN : escapes) ?? {}) : {},
  };
  const shown = (text: string, limit: number): string => cut(text, limit, spelling);
  const joined = (title: string, body: string): string => (title === '' ? body : `${title}\n${body}`);
  const whole = joined(facts.title, facts.body);
  if (overflow === 'upstream') {
    const [title, body, text] = [facts.title, facts.body, whole].map(part => shown(part, Infinity));
    return [{ ...facts, ...look, title: title ?? '', body: body ?? '', text: text ?? '' }];
  }
  const {
    title: titleRoom = Infinity,
    body: bodyRoom = Infinity,
    text: textRoom = Infinity,
    total = Infinity,
  } = limits;
  const title = shown(facts.title, Math.min(titleRoom, total));
  const room = Math.min(bodyRoom, total - sizeOf(title, spelling));
  if (overflow === 'truncate') {
    return [{ ...facts, ...look, title, body: shown(facts.body, room), text: shown(whole, textRoom) }];
  }
  const smallest = Math.min(room, textRoom === Infinity ? Infinity : textRoom - sizeOf(joined(title, ''), spelling));
  return split(facts.body, Math.max(smallest, ELLIPSIS.length + 1), spelling).map(body => ({
    ...facts,
    ...look,
    title,
    body,
    text: joined(title, body),
  }));
}

function split(text: string, limit: number, spelling: Spelling): string[] {
  const parts: string[] = [];
  let rest = text;
  while (sizeOf(escaped(rest, spelling), spelling) > limit && parts.length < MAX_PARTS - 1) {
    const { shown, length } = head(rest, limit, spelling);
    parts.push(shown);
    rest = rest.slice(length);
  }
  return [...parts, cut(rest, limit, spelling)];
}

function cut(text: string, limit: number, spelling: Spelling): string {
  const whole = escaped(text, spelling);
  if (sizeOf(whole, spelling) <= limit) return whole;
  return limit <= ELLIPSIS.length
    ? head(text, Math.max(limit, 0), spelling).shown
    : head(text, limit - ELLIPSIS.length, spelling).shown + ELLIPSIS;
}

/** The longest beginning within the limit that splits no character and no escape, and its length before escaping. */
function head(text: string, limit: number, spelling: Spelling): { shown: string; length: number } {
  let size = 0;
  let length = 0;
  for (const character of text) {
    size += sizeOf(escaped(character, spelling), spelling);
    if (size > limit) break;
    length += character.length;
  }
  return { shown: escaped(text.slice(0, length), spelling), length };
}

function escaped(text: string, { escapes }: Spelling): string {
  return Object.keys(escapes).length === 0 ? text : Array.from(text, sign => escapes[sign] ?? sign).join('');
}

function sizeOf(text: string, { unit }: Spelling): number {
  return unit === 'bytes' ? Buffer.byteLength(text) : text.length;
}
