// Hides secrets when the configuration is read.
import { isObject } from '../kit/plain-object.ts';
import { withoutCredentials } from '../kit/redact.ts';
import type { Place } from './marks.ts';

export const MASK = '********';
/** Ends the name of the flag that says whether a write-only member is set. */
export const CONFIGURED = '_configured';
const USERINFO = /^([a-z][a-z0-9+.-]*:\/\/)[^\s/@]+@/i;
const OPTION = /^--?[A-Za-z][\w-]*$/;
/** The name of a program or of what it does, as far as it decides what an option means. */
const COMMAND_WORD = /^[\w./-]{1,256}$/;

/**
 * The value as answers show it: each write-only member is blank and gets a flag beside it that says whether it is set,
 * and what is unknown is masked. With `maskAll`, every other secret and credentials in texts are masked too. Parts
 * without secrets stay the same objects.
 */
export function shownValue(value: unknown, place: Place, maskAll: boolean): unknown {
  const mask = maskAll || place.isUnknown;
  if (Array.isArray(value)) return shownList(value, place.item(), mask);
  if (isObject(value)) return shownObject(value, place, mask);
  return mask ? maskedLeaf(value, place) : value;
}

/** The list as answers show it, given the place of its members. */
export function shownList(list: readonly unknown[], item: Place, mask: boolean): readonly unknown[] {
  const shown = list.map((member, index) =>
    mask && isTakenByOption(list, index) ? MASK : shownValue(member, item, mask),
  );
  return shown.every((member, index) => member === list[index]) ? list : shown;
}

/** Whether the text is the credential that the option before it in a command takes. */
function isTakenByOption(list: readonly unknown[], index: number): boolean {
  const option = list[index - 1];
  const text = list[index];
  if (typeof option !== 'string' || !OPTION.test(option)) return false;
  if (typeof text !== 'string' || text === '' || text.startsWith('-')) return false;
  const program = list.slice(0, Math.min(2, index - 1)).filter(word => typeof word === 'string');
  const words = [...program.filter(word => COMMAND_WORD.test(word)), option];
  const value = /[\s"'\\]/.test(text) ? JSON.stringify(text) : text;
  return withoutCredentials([...words, value].join(' '), MASK).endsWith(`${option} ${MASK}`);
}

function shownObject(object: Readonly<Record<string, unknown>>, place: Place, mask: boolean): unknown {
  const shown: Record<string, unknown> = {};
  let isSame = true;
  const put = (key: string, member: unknown): void => {
    shown[key] = member;
    isSame &&= member === object[key];
  };
  const blanked = new Set(place.writeOnlyKeys());
  for (const [key, member] of Object.entries(object)) {
    if (place.hasWriteOnly(key)) blanked.add(key);
    else if (mask || place.masksUnknown || typeof member === 'object')
      put(key, shownValue(member, place.member(key), mask));
    else put(key, member);
  }
  for (const key of blanked) {
    put(key, place.member(key).blank());
    put(key + CONFIGURED, !isBlank(object[key]));
  }
  return isSame ? object : shown;
}

/** The value without its secret members. */
export function valueWithoutSecrets(value: unknown, place: Place): unknown {
  if (Array.isArray(value)) {
    const item = place.item();
    return value.map(member => valueWithoutSecrets(member, item));
  }
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, member]) => {
      const at = place.member(key);
      return at.secret ? [] : [[key, valueWithoutSecrets(member, at)]];
    }),
  );
}

/** Whether a mask stands for the text or number, or a part of it, where secrets are masked. */
export function isHidden(value: unknown, place: Place): boolean {
  return maskedLeaf(value, place) !== value;
}

/** The text or number as it is shown where secrets are masked. */
export function maskedLeaf(value: unknown, place: Place): unknown {
  if (typeof value === 'number') return place.secretBySchema ? MASK : value;
  if (typeof value !== 'string' || value === '') return value;
  return place.secret ? MASK : withoutCredentials(value.replace(USERINFO, `$1${MASK}@`), MASK);
}

export function isBlank(value: unknown): boolean {
  if (value === undefined || value === null || value === '') return true;
  return typeof value === 'object' && Object.keys(value).length === 0;
}
