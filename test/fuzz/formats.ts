// Feeds the formats of services' files with texts of their own signs: each is accepted, or refused with a sentence.
import fc from 'fast-check';
import { Problem } from '../../core/contract/problem.ts';
import { LARGE_TEXT_BYTES } from '../../core/kit/text-thread.ts';
import type { FileObject } from '../../plugins/config-files/contract.ts';
import { formatsOf } from '../../plugins/format-conf/formats.ts';
import { jsonFormat } from '../../plugins/format-json/json-file.ts';
import { pythonFormat } from '../../plugins/format-python/python-file.ts';
import { xmlFormat } from '../../plugins/format-xml/xml-file.ts';
import { yamlFormat } from '../../plugins/format-yaml/yaml-file.ts';
import { ranMs } from './stall-watch.ts';

const FORMATS = [...formatsOf([]), jsonFormat, pythonFormat, xmlFormat, yamlFormat];
const SIGNS =
  '{ } [ ] < > <a> </a> <a/> <!-- --> <!DOCTYPE <![CDATA[ &amp; " \' """ \\ : = , ( ) # // /* */ - & * << !! | ? a b 1 null True __proto__ constructor [a]';
const pieces = fc.constantFrom(...SIGNS.split(' '), ' ', '  ', '\n', '\t', '\r\n', ': ', ' = ', '\u0000', '\ud800');
const short = fc.array(fc.oneof({ weight: 6, arbitrary: pieces }, fc.string()), { maxLength: 30 });
/** Up to the size from which on texts are read in a thread: these hold the loop. */
const texts = fc
  .tuple(short, fc.oneof({ weight: 7, arbitrary: fc.constant(1) }, { weight: 2, arbitrary: fc.nat(LARGE_TEXT_BYTES) }))
  .map(([parts, times]) => {
    const text = parts.join('');
    const most = Math.floor(LARGE_TEXT_BYTES / Math.max(1, Buffer.byteLength(text)));
    return text.repeat(Math.max(1, Math.min(times, most)));
  });
const names = fc.oneof(fc.constantFrom('a', '__proto__', 'a b'), fc.string());
const few = fc.dictionary(names, fc.jsonValue({ maxDepth: 3 }), { maxKeys: 4 });
const many = fc
  .tuple(names, fc.jsonValue({ maxDepth: 1 }), fc.integer({ min: 100, max: 1_000 }))
  .map(([name, value, count]) => Object.fromEntries(Array.from({ length: count }, (_none, at) => [name + at, value])));
const updates = fc.oneof({ weight: 9, arbitrary: few }, { weight: 1, arbitrary: many });

/** What a format answers with anything but a value or a Problem below 500, and what takes longer than it may. */
export async function fuzzFormats(seed: number, count: number, limitMs: number): Promise<readonly string[]> {
  const faults: string[] = [];
  for (const [text, update] of fc.sample(fc.tuple(texts, updates), { seed, numRuns: count })) {
    for (const format of FORMATS) {
      const attempts: Readonly<Record<string, () => unknown>> = {
        parse: () => format.parse(text),
        readUpdate: () => format.readUpdate(text),
        edit: () => format.edit(text, update as FileObject, 'merge'),
      };
      for (const [what, attempt] of Object.entries(attempts)) {
        const beforeMs = ranMs();
        const error: unknown = await Promise.resolve()
          .then(attempt)
          .then(
            () => undefined,
            failure => failure,
          );
        const tookMs = Math.round(ranMs() - beforeMs);
        const isFault = error !== undefined && !(error instanceof Problem && error.status < 500);
        if (!isFault && tookMs <= limitMs) continue;
        const shown = JSON.stringify([text, update]);
        faults.push(
          `${format.name}.${what} of ${shown.length} characters ${shown.slice(0, 500)}: ${error}, ${tookMs} ms`,
        );
      }
    }
  }
  return faults;
}
