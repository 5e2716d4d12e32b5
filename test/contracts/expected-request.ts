// What a request to a service has to hold, and what it holds otherwise.
import { deepEqual } from '../../core/kit/deep-equal.ts';
import type { Received } from './receiver.ts';

export interface ExpectedRequest {
  /** Method and whole URL, for example `POST https://service.example/messages`. */
  readonly to: string;
  /** With names in lower case. */
  readonly headers?: Readonly<Record<string, string | undefined>>;
  /** Members that the JSON of the body has; undefined for one that it has not. */
  readonly json?: object;
  /** Members that the form of the body has. */
  readonly form?: Readonly<Record<string, string | undefined>>;
}

export interface Sent extends Received {
  /** Method and URL. */
  readonly to: string;
}

/** What a request has otherwise than it is expected, by place. */
export function differences(request: Sent, { headers = {}, json, form = {} }: ExpectedRequest): string[] {
  const fields = Object.fromEntries(new URLSearchParams(request.body));
  return [
    ...missing(request.headers, headers, 'header'),
    ...(json === undefined ? [] : missing(JSON.parse(request.body), json, 'json')),
    ...missing(fields, form, 'form'),
  ];
}

/** Objects may have more members than are wanted, lists may not. */
function missing(found: unknown, wanted: unknown, place: string): string[] {
  if (typeof wanted !== 'object' || wanted === null || typeof found !== 'object' || found === null) {
    return deepEqual(found, wanted) ? [] : [`${place}: ${JSON.stringify(found)}`];
  }
  const length = Array.isArray(wanted) && Array.isArray(found) && wanted.length !== found.length;
  const members = Object.entries(wanted).flatMap(([key, value]) =>
    missing((found as Record<string, unknown>)[key], value, `${place}.${key}`),
  );
  return length ? [`${place}: ${JSON.stringify(found)}`, ...members] : members;
}
