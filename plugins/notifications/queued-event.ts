// The queued form of an event, or of a message that a user sends: short texts without secrets, and a target for each
// destination that wants it.
import { type AnyEvent, Problem } from '#core';
import { errorText } from '#kit/error-text';
import { newId } from '#kit/new-id';
import { isObject } from '#kit/plain-object';
import { redact } from '#kit/redact';
import type { EventText, NotificationEvent, Severity } from './contract.ts';
import { MANUAL } from './event-types.ts';
import type { QueuedEvent, QueuedTarget } from './queue-statements.ts';
import { isWanted } from './routing.ts';
import type { DestinationSettings } from './settings.ts';
import { severityOf } from './severity.ts';
import { beginning, shortened, wellFormed } from './short-text.ts';

const MAX_TITLE = 300;
const MAX_BODY = 10_000;
const MAX_METADATA_TEXT = 2_000;
const MAX_METADATA_DEPTH = 4;
const MAX_METADATA_MEMBERS = 200;
/** The limit of all names and texts of the metadata together. */
const MAX_METADATA_CHARACTERS = 20_000;
const MS_PER_S = 1_000;

export interface ManualMessage {
  readonly title: string;
  readonly body: string;
  readonly severity: Severity;
}

export function queuedEvent(
  { type, at, data }: AnyEvent,
  kind: NotificationEvent,
  destinations: readonly DestinationSettings[],
): QueuedEvent {
  const text = textOf(type, kind, data);
  const { serviceName = null, conditionKey = '', recoveredType } = text;
  const severity = severityOf(text.severity ?? kind.severity);
  const wanted = { eventType: type, severity, serviceName, recoveredType };
  const metadata = {
    ...(text.metadata ?? {}),
    ...(conditionKey === '' ? {} : { condition_key: conditionKey }),
    ...(recoveredType === undefined ? {} : { recovered_event_type: recoveredType }),
  };
  return {
    eventId: newId(),
    eventType: type,
    severity,
    title: cleaned(text.title, MAX_TITLE),
    body: cleaned(text.body, MAX_BODY),
    serviceName,
    metadata: cleanedData(metadata) as Record<string, unknown>,
    createdAt: at,
    conditionKey,
    isForced: false,
    isExempt: text.ignoresCooldown === true,
    targets: destinations.filter(destination => isWanted(destination, wanted)).map(targetOf),
  };
}

/** The queued form of a message that a user sends. */
export function manualEvent(
  { title, body, severity }: ManualMessage,
  destinations: readonly DestinationSettings[],
): QueuedEvent {
  return {
    eventId: newId(),
    eventType: MANUAL,
    severity,
    title: cleaned(title, MAX_TITLE),
    body: cleaned(body, MAX_BODY),
    serviceName: null,
    metadata: {},
    createdAt: Date.now() / MS_PER_S,
    conditionKey: '',
    isForced: true,
    isExempt: true,
    targets: destinations.map(targetOf),
  };
}

function targetOf({ id, name, cooldown_sec: cooldownSec }: DestinationSettings): QueuedTarget {
  return { deliveryId: newId(), destinationId: id, destinationName: name, cooldownSec };
}

/** The text of an event; its type is the title when the plugin cannot describe it. */
function textOf(type: string, kind: NotificationEvent, data: unknown): EventText {
  try {
    return kind.describe(data);
  } catch (error) {
    return { title: type, body: error instanceof Problem ? errorText(error) : '' };
  }
}

function cleaned(text: string, length: number): string {
  return shortened(redact(wellFormed(beginning(text, length * 2))), length);
}

/** Plain data with every text cleaned, without members that are too deep or too many. `room` counts what is left. */
function cleanedData(value: unknown, room = { characters: MAX_METADATA_CHARACTERS }, depth = 0): unknown {
  if (typeof value === 'string') {
    const text = cleaned(value, Math.min(MAX_METADATA_TEXT, room.characters));
    room.characters -= text.length;
    return text;
  }
  if (typeof value === 'boolean' || value === null || Number.isFinite(value)) return value;
  if (depth >= MAX_METADATA_DEPTH) return null;
  if (Array.isArray(value))
    return value.slice(0, MAX_METADATA_MEMBERS).map(member => cleanedData(member, room, depth + 1));
  if (!isObject(value)) return null;
  const kept: [string, unknown][] = [];
  for (const [key, member] of Object.entries(value).slice(0, MAX_METADATA_MEMBERS)) {
    if (key.length > room.characters) break;
    room.characters -= key.length;
    kept.push([key, cleanedData(member, room, depth + 1)]);
  }
  return Object.fromEntries(kept);
}
