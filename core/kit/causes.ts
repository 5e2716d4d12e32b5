// What was thrown, and what that says it was caused by: anything can be thrown, so a chain of causes may be a ring, and
// a proxy throws in turn when it is looked at.
import { types } from 'node:util';
import { errorText } from './error-text.ts';

const MAX_CAUSES = 10;
/** What is read of errors: of any, of those of the system, and of a Problem. */
const READ_MEMBERS = [
  ...['cause', 'name', 'message', 'stack', 'code'],
  ...['errno', 'address', 'port', 'hostname', 'path'],
  ...['status', 'headers', 'extra'],
];

/** The value itself and its causes, as far as they are objects. A chain that is longer, or a ring, is cut. */
export function* causesOf(error: unknown): Generator<object> {
  for (let cause = error, depth = 0; isObject(cause) && depth < MAX_CAUSES; depth += 1) {
    yield cause;
    cause = (cause as { cause?: unknown }).cause;
  }
}

/**
 * As an object that can be read again and again: its accessors, and those of its causes, are read once and become
 * values. In place of what cannot be made so, as of a proxy, an Error with what can be told of it.
 */
export function thrownObject(thrown: unknown): object {
  try {
    if (isObject(thrown)) {
      for (const cause of causesOf(thrown)) fixAccessors(cause);
      return thrown;
    }
  } catch {
    // It cannot be passed on.
  }
  return new Error(errorText(thrown));
}

/** Throws where that cannot be done. */
function fixAccessors(error: object): void {
  for (const key of READ_MEMBERS) {
    if (memberOf(error, key)?.get === undefined) continue;
    const value: unknown = Reflect.get(error, key);
    Object.defineProperty(error, key, { value, configurable: true, enumerable: false, writable: true });
  }
}

/** Its own, or the nearest that it inherits. A proxy may give another one each time. */
function memberOf(error: object, key: string): PropertyDescriptor | undefined {
  for (let place: object | null = error; place !== null; place = Object.getPrototypeOf(place) as object | null) {
    if (types.isProxy(place)) throw new TypeError('a proxy cannot be fixed');
    const member = Reflect.getOwnPropertyDescriptor(place, key);
    if (member !== undefined) return member;
  }
  return undefined;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
