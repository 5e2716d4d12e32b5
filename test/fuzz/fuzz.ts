// Feeds a running host and the capture of output what nobody should send, and tells what is a fault or stands still.

import { once } from 'node:events';
import fc from 'fast-check';
import { redact } from '../../core/kit/redact.ts';
import { MAX_LINE_BYTES, toLines } from '../../plugins/process/capture/output-lines.ts';
import type { TestHost } from '../support/host.ts';
import { bodiesFor, type Operation, operationsOf } from './bodies.ts';
import { ranMs, type Stall, StallWatch } from './stall-watch.ts';

/** They come last, because they may make a first user: nobody is let in without a token then. */
const LOGIN = '/auth/';

export interface Outcome {
  readonly faults: readonly string[];
  readonly stall: Stall;
  /** Requests or frames. */
  readonly sent: number;
}

const LARGEST_FRAME = 4_096;
/** What is read of a service's output at once. */
const PIECE_BYTES = 256 * 1024;
/** Masks may be longer than what they stand for. */
const LONGEST_LINE = 2 * MAX_LINE_BYTES;
const MASK = '[REDACTED]';
const LINE_WORDS = [
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
  '{',
  '}',
  '<',
  '>',
  '@',
  '://',
  '&',
  ',',
  '--',
  '\x1b[',
  '\x1b]',
  '\r',
  '\n',
  '_key',
  'eyJ',
  'sk-',
  'Bearer ',
  'INFO',
];

/** What an operation answers when a server that it asks fails, or when something is not there at present. */
const EXPECTED = [502, 503, 504];

/** Sends `count` bodies to each operation of the host. Any other status of 500 or above is a fault. */
export async function fuzzBodies(app: TestHost, seed: number, count: number): Promise<Outcome> {
  const watch = new StallWatch();
  const faults: string[] = [];
  let sent = 0;
  const operations = operationsOf((await app.get('/openapi.json')).body);
  const isLogin = ({ path }: Operation) => path.startsWith(LOGIN);
  for (const operation of [...operations.filter(each => !isLogin(each)), ...operations.filter(isLogin)]) {
    const url = operation.path.replaceAll(/\{[^}]+\}/g, 'x');
    for (const body of watch.exempt(() => fc.sample(bodiesFor(operation), { seed, numRuns: count }))) {
      const { status } = await app.request(operation.method, url, {
        body,
        headers: { 'content-type': 'application/json' },
      });
      sent += 1;
      if (status >= 500 && !EXPECTED.includes(status))
        faults.push(`${status} ${operation.method} ${operation.path} ${body.slice(0, 300)}`);
    }
  }
  return { faults, stall: await watch.end(), sent };
}

/** Sends frames of any kind to the streams; the host must answer afterwards. */
export async function fuzzFrames(app: TestHost, seed: number, count: number): Promise<Outcome> {
  const watch = new StallWatch();
  const faults: string[] = [];
  let sent = 0;
  const large = fc.tuple(fc.string({ minLength: 1 }), fc.nat(LARGEST_FRAME)).map(([text, length]) => {
    return text.repeat(Math.ceil(length / text.length)).slice(0, length);
  });
  const frames = fc.oneof(
    { weight: 3, arbitrary: fc.string() },
    { weight: 3, arbitrary: fc.json() },
    { weight: 3, arbitrary: fc.uint8Array().map(bytes => Buffer.from(bytes)) },
    { weight: 1, arbitrary: large },
  );
  for (const stream of app.host.plugins().flatMap(plugin => plugin.streams)) {
    const socket = app.ws(stream);
    const closed = once(socket, 'close');
    await once(socket, 'open');
    for (const frame of watch.exempt(() => fc.sample(frames, { seed, numRuns: count }))) {
      socket.send(frame);
      sent += 1;
    }
    socket.send('x'.repeat(50 * LARGEST_FRAME));
    await closed;
    const { status } = await app.get('/health');
    if (status !== 200) faults.push(`${status} after frames to ${stream}`);
  }
  return { faults, stall: await watch.end(), sent };
}

/**
 * Output of services: its lines are of limited length, what is masked once stays as it is, and a piece takes no longer.
 */
export function fuzzLines(seed: number, count: number, limitMs: number): readonly string[] {
  const words = fc.constantFrom(...LINE_WORDS, 'x'.repeat(70_000));
  const short = fc.array(fc.oneof(words, fc.string()), { maxLength: 40 }).map(parts => parts.join(''));
  const repeated = fc
    .array(fc.constantFrom(...LINE_WORDS), { minLength: 1, maxLength: 4 })
    .map(parts => parts.join(''))
    .map(text => text.repeat(Math.ceil(PIECE_BYTES / text.length)).slice(0, PIECE_BYTES));
  const output = fc.oneof({ weight: 8, arbitrary: short }, { weight: 2, arbitrary: repeated });
  return fc.sample(output, { seed, numRuns: count }).flatMap(text => {
    const beforeMs = ranMs();
    const lines = [...toLines(Buffer.from(text))];
    const tookMs = Math.round(ranMs() - beforeMs);
    const shown = `${text.length} characters ${JSON.stringify(text.slice(0, 300))}`;
    const faults = tookMs > limitMs ? [`${tookMs} ms for ${shown}`] : [];
    if (lines.some(line => !staysAsItIs(line.text))) faults.push(`masked twice: ${shown}`);
    if (lines.some(line => Buffer.byteLength(line.text) > LONGEST_LINE)) faults.push(`a long line: ${shown}`);
    return faults;
  });
}

/** The mask at the end of the longest lines may have been cut, and is whole again afterwards. */
function staysAsItIs(text: string): boolean {
  const again = redact(text);
  return (
    again === text ||
    (text.length >= MAX_LINE_BYTES && again.startsWith(text) && MASK.endsWith(again.slice(text.length)))
  );
}
