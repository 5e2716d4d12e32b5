// What a request to a service must contain, and how a request differs from that.
import { deepEqual } from '../../core/kit/deep-equal.ts';
import type { Received } from './receiver.ts';

export interface ExpectedRequest {
  /** Method and whole URL, for example `POST https://service.example/messages`. */
  readonly to: string;
  /** Header names are in lower case; undefined for a header that must be absent. */
  readonly headers?: Readonly<Record<string, string | undefined>>;
  /** Members of the JSON body; undefined for a member that must be absent. */
  readonly json?: object;
  /** Fields of the form in the body; undefined for a field that must be absent. */
  readonly form?: Readonly<Record<string, string | undefined>>;
}

export interface Sent extends Received {
  /** Method and URL of the request. */
  readonly to: string;
}

/** The differences between a request and what was expected, each with its place. */
export function differences(request: Sent, { headers = {}, json, form = {} }: ExpectedRequest): string[] {
  const fields = Object.fromEntries(new URLSearchParams(request.body));
  return [
    ...missing(request.headers, headers, 'header'),
    ...(json === undefined ? [] : missing(JSON.parse(request.body), json, 'json')),
    ...missing(fields, form, 'form'),
  ];
}

/** Objects may have more members than expected, lists may not. */
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
