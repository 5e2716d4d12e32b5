// Feeds a running host and the capture of output what nobody should send, and tells what is a fault or stands still.

import { once } from 'node:events';
import fc from 'fast-check';
import { redact } from '../../core/kit/redact.ts';
import { toLines } from '../../plugins/process/capture/output-lines.ts';
import type { TestHost } from '../support/host.ts';
import { bodiesFor, type Operation, operationsOf } from './bodies.ts';
import { StallWatch } from './stall-watch.ts';

/** They come last, because they may make a first user: nobody is let in without a token then. */
const LOGIN = '/auth/';

export interface Outcome {
  readonly faults: readonly string[];
  /** How long the event loop stood still at most, without what other programs took of the processor. */
  readonly longestStallMs: number;
  readonly requests: number;
}

/** What an operation answers when a server that it asks fails, or when something is not there at present. */
const EXPECTED = [502, 503, 504];

/** Sends `count` bodies to each operation of the host. Any other status of 500 or above is a fault. */
export async function fuzzBodies(app: TestHost, seed: number, count: number): Promise<Outcome> {
  const watch = new StallWatch();
  const faults: string[] = [];
  let requests = 0;
  const operations = operationsOf((await app.get('/openapi.json')).body);
  const isLogin = ({ path }: Operation) => path.startsWith(LOGIN);
  for (const operation of [...operations.filter(each => !isLogin(each)), ...operations.filter(isLogin)]) {
    const url = operation.path.replaceAll(/\{[^}]+\}/g, 'x');
    for (const body of fc.sample(bodiesFor(operation), { seed, numRuns: count })) {
      const { status } = await app.request(operation.method, url, {
        body,
        headers: { 'content-type': 'application/json' },
      });
      requests += 1;
      if (status >= 500 && !EXPECTED.includes(status))
        faults.push(`${status} ${operation.method} ${operation.path} ${body.slice(0, 300)}`);
    }
  }
  return { faults, longestStallMs: watch.end(), requests };
}

/** Sends frames of any kind to the streams; the host must answer afterwards. */
export async function fuzzFrames(app: TestHost, seed: number, count: number): Promise<readonly string[]> {
  const faults: string[] = [];
  const frames = fc.oneof(
    fc.string(),
    fc.json(),
    fc.uint8Array().map(bytes => Buffer.from(bytes)),
  );
  for (const stream of app.host.plugins().flatMap(plugin => plugin.streams)) {
    const socket = app.ws(stream);
    const closed = once(socket, 'close');
    await once(socket, 'open');
    for (const frame of fc.sample(frames, { seed, numRuns: count })) socket.send(frame);
    socket.close();
    await closed;
    const { status } = await app.get('/health');
    if (status !== 200) faults.push(`${status} after frames to ${stream}`);
  }
  return faults;
}

/** Output of services: its lines are of limited length, and what is masked once stays as it is. */
export function fuzzLines(seed: number, count: number): readonly string[] {
  const words = fc.constantFrom(
    'token',
    'password',
    '"',
    '\\',
    "'",
    ': ',
    '=',
    ' ',
    '[',
    ']',
    '<',
    '>',
    '@',
    '--',
    '\x1b[',
    '\r',
    '\n',
    '_key',
    'x'.repeat(70_000),
  );
  const output = fc.array(fc.oneof(words, fc.string()), { maxLength: 40 }).map(parts => parts.join(''));
  return fc.sample(output, { seed, numRuns: count }).flatMap(text => {
    const lines = [...toLines(Buffer.from(text))];
    return lines.some(line => redact(line.text) !== line.text)
      ? [`masked twice: ${JSON.stringify(text.slice(0, 300))}`]
      : [];
  });
}
