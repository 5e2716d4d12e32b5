// Finds the route of a method and path: a constant path by one lookup, any other by patterns in a fixed order.

import { z } from 'zod';
import { Problem } from '../contract/problem.ts';
import type { HttpMethod, Route } from '../contract/route.ts';
import { membersOf, refuseMisspelt, requireDeadline, requireFunction, requireText } from '../kit/checked-argument.ts';
import { NameTaken } from '../kit/name-taken.ts';
import type { Call, Owner } from '../kit/owner.ts';

export interface OwnedRoute {
  readonly owner: Owner;
  readonly route: Route;
  /** The group of the route in the API description and in the request counts. */
  readonly group: string;
  readonly call: Call;
}

export interface RouteMatch {
  readonly owned: OwnedRoute;
  /** Decoded values of the path's parameters. */
  readonly params: Readonly<Record<string, string>>;
}

interface Pattern {
  readonly segments: readonly string[];
  /** The path with unnamed parameters, `{}` and `{...}`. Paths with equal shapes match the same requests. */
  readonly shape: string;
  readonly methods: Map<string, OwnedRoute>;
}

/** Longer than any client waits, and than the start of a service that waits for others. */
const DEADLINE_MS = 900_000;
const MEMBERS = membersOf<Route>({
  method: true,
  path: true,
  summary: true,
  tag: true,
  capability: true,
  access: true,
  nativeOnly: true,
  hidden: true,
  query: true,
  body: true,
  bodyLimitBytes: true,
  holdsForeignNames: true,
  compress: true,
  changesNothing: true,
  deadlineMs: true,
  response: true,
  mediaTypes: true,
  handle: true,
});
const NO_PARAMS: Readonly<Record<string, string>> = Object.freeze({});

export class RouteMap {
  readonly #constant = new Map<string, Map<string, OwnedRoute>>();
  /** Ordered from the most to the least specific one. */
  #patterns: Pattern[] = [];

  /**
   * Adds a route and returns a function that removes it. Throws an Error when the path is malformed or another route
   * takes the same requests.
   */
  add(owner: Owner, route: Route): () => void {
    const { plugin } = owner;
    requireText(route.path, `the path of a route of ${plugin}`);
    if (!/^\/$|^(\/[^/?#\s]+)+$/.test(route.path)) throw new Error(`${plugin}: '${route.path}' is not a route path`);
    if (!METHOD_ORDER.includes(route.method))
      throw new Error(`the method of ${route.path} of ${plugin} is none of ${METHOD_ORDER.join(', ')}`);
    const what = `${route.method} ${route.path} of ${plugin}`;
    refuseMisspelt(Object.keys(route), MEMBERS, `the route ${what}`);
    if (route.summary !== undefined) requireText(route.summary, `the summary of ${what}`);
    if (route.tag !== undefined) requireText(route.tag, `the tag of ${what}`);
    requireFunction(route.handle, `the handler of ${what}`);
    requireDeadline(route.deadlineMs, what);
    for (const member of ['query', 'body', 'response'] as const) {
      const schema: unknown = route[member];
      if (schema !== undefined && !(schema instanceof z.ZodType))
        throw new Error(`'${member}' of ${what} is no schema; make one with host.z`);
    }
    const methods = route.path.includes('{') ? this.#pattern(route.path).methods : this.#constantMethods(route.path);
    const other = methods.get(route.method);
    if (other !== undefined) throw new NameTaken(`route ${what}`, 'registered', other.owner.plugin);
    const owned = { owner, route, group: route.tag ?? plugin, call: callOf(route) };
    methods.set(route.method, owned);
    return () => {
      if (methods.get(route.method) !== owned) return;
      methods.delete(route.method);
      if (methods.size > 0) return;
      this.#constant.delete(route.path);
      this.#patterns = this.#patterns.filter(pattern => pattern.methods !== methods);
    };
  }

  /**
   * The route for a path as the request line has it, without its query. A constant path wins over a pattern, a more
   * specific pattern over a less specific one. Returns the allowed methods when the path has no route of this method,
   * and undefined when the path is unknown.
   */
  find(method: string, rawPath: string): RouteMatch | readonly string[] | undefined {
    const path = rawPath.length > 1 && rawPath.endsWith('/') ? rawPath.slice(0, -1) : rawPath;
    const wanted = method === 'HEAD' ? 'GET' : method;
    const methods = this.#constant.get(path);
    const owned = methods?.get(wanted);
    if (owned !== undefined) return { owned, params: NO_PARAMS };
    const allowed = new Set<string>(methods?.keys());
    const match = this.#patterns.length > 0 ? this.#findByPattern(path, wanted, allowed) : undefined;
    if (match !== undefined) return match;
    if (allowed.size === 0) return undefined;
    if (allowed.has('GET')) allowed.add('HEAD');
    return [...allowed].sort();
  }

  /** Adds the methods of patterns that fit, but have no route of this method, to `allowed`. */
  #findByPattern(path: string, method: string, allowed: Set<string>): RouteMatch | undefined {
    const segments = path.slice(1).split('/');
    for (const pattern of this.#patterns) {
      if (!matchesSegments(pattern.segments, segments)) continue;
      const owned = pattern.methods.get(method);
      if (owned !== undefined) return { owned, params: readParams(pattern.segments, segments) };
      for (const name of pattern.methods.keys()) allowed.add(name);
    }
    return undefined;
  }

  /** All routes, ordered by path and method. */
  all(): OwnedRoute[] {
    const everything = [...this.#constant.values(), ...this.#patterns.map(pattern => pattern.methods)];
    return everything
      .flatMap(methods => [...methods.values()])
      .sort(
        (a, b) => compareTexts(a.route.path, b.route.path) || rankMethod(a.route.method) - rankMethod(b.route.method),
      );
  }

  #constantMethods(path: string): Map<string, OwnedRoute> {
    let methods = this.#constant.get(path);
    if (methods === undefined) {
      methods = new Map();
      this.#constant.set(path, methods);
    }
    return methods;
  }

  #pattern(path: string): Pattern {
    const segments = path.slice(1).split('/');
    for (const [at, segment] of segments.entries()) {
      const rest = segment.endsWith('...}') && at === segments.length - 1;
      if (/[{}]/.test(segment) && !/^\{\w+\}$/.test(segment) && !(rest && /^\{\w+\.\.\.\}$/.test(segment))) {
        throw new Error(`'${segment}' in ${path} is neither a constant nor a whole {name}`);
      }
    }
    const shape = segments.map(segment => (segment.startsWith('{') ? segment.replace(/\w+/, '') : segment)).join('/');
    let pattern = this.#patterns.find(other => other.shape === shape);
    if (pattern === undefined) {
      pattern = { segments, shape, methods: new Map() };
      this.#patterns = [...this.#patterns, pattern].sort((a, b) => compareTexts(rankPattern(a), rankPattern(b)));
    }
    return pattern;
  }
}

/** The caller logs a failure of the handler, together with the id that the answer names. */
function callOf({ method, path, deadlineMs = DEADLINE_MS }: Route): Call {
  return { place: 'route', what: `${method} ${path}`, deadlineMs, mayRefuse: true, toldByCaller: true };
}

function matchesSegments(pattern: readonly string[], segments: readonly string[]): boolean {
  for (const [at, expected] of pattern.entries()) {
    const segment = segments[at];
    if (segment === undefined || segment === '') return false;
    if (expected.endsWith('...}')) return true;
    if (!expected.startsWith('{') && expected !== segment) return false;
  }
  return segments.length === pattern.length;
}

function readParams(pattern: readonly string[], segments: readonly string[]): Record<string, string> {
  const params: Record<string, string> = {};
  for (const [at, expected] of pattern.entries()) {
    if (expected.endsWith('...}')) params[expected.slice(1, -4)] = decodeSegment(segments.slice(at).join('/'));
    else if (expected.startsWith('{')) params[expected.slice(1, -1)] = decodeSegment(segments[at] ?? '');
  }
  return params;
}

function decodeSegment(text: string): string {
  let decoded: string;
  try {
    decoded = decodeURIComponent(text);
  } catch (error) {
    throw new Problem(400, 'The path is not valid percent-encoded UTF-8', { cause: error });
  }
  if (decoded.includes('\0')) throw new Problem(400, 'The path holds a NUL character');
  return decoded;
}

/** A text that sorts constant segments before parameters, and parameters before the rest of a path. */
function rankPattern(pattern: Pattern): string {
  return pattern.segments
    .map(segment => (segment.endsWith('...}') ? '2' : segment.startsWith('{') ? '1' : `0${segment}`))
    .join('/');
}

function compareTexts(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

const METHOD_ORDER: readonly HttpMethod[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

function rankMethod(method: HttpMethod): number {
  return METHOD_ORDER.indexOf(method);
}
