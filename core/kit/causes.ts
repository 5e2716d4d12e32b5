// A thrown value and its causes: anything can be thrown, so a chain of causes may be a ring, and a proxy may throw when
// it is read.
import { types } from 'node:util';
import { errorText } from './error-text.ts';

const MAX_CAUSES = 10;
/** The members that are read from errors: from any error, from a system error, and from a Problem. */
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
 * The thrown value as an object that can be read safely: its accessors, and those of its causes, are read once and
 * become values. Where that is impossible, as for a proxy, an Error with the text of the value.
 */
export function thrownObject(thrown: unknown): object {
  try {
    if (isObject(thrown)) {
      for (const cause of causesOf(thrown)) fixAccessors(cause);
      return thrown;
    }
  } catch {
    // The value cannot be made safe.
  }
  return new Error(errorText(thrown));
}

/** Turns the accessors of an error into values. Throws where that is impossible. */
function fixAccessors(error: object): void {
  for (const key of READ_MEMBERS) {
    if (memberOf(error, key)?.get === undefined) continue;
    const value: unknown = Reflect.get(error, key);
    Object.defineProperty(error, key, { value, configurable: true, enumerable: false, writable: true });
  }
}

/** The own member, or the nearest inherited one. Throws for a proxy, which may give another one each time. */
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
