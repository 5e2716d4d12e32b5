// Feeds the formats of services' files with texts of their own signs: each is accepted, or refused with a sentence.
import fc from 'fast-check';
import { Problem } from '../../core/contract/problem.ts';
import type { FileObject } from '../../plugins/config-files/contract.ts';
import { formatsOf } from '../../plugins/format-conf/formats.ts';
import { jsonFormat } from '../../plugins/format-json/json-file.ts';
import { pythonFormat } from '../../plugins/format-python/python-file.ts';
import { xmlFormat } from '../../plugins/format-xml/xml-file.ts';
import { yamlFormat } from '../../plugins/format-yaml/yaml-file.ts';

const FORMATS = [...formatsOf([]), jsonFormat, pythonFormat, xmlFormat, yamlFormat];
const SIGNS =
  '{ } [ ] < > <a> </a> <a/> <!-- --> <!DOCTYPE <![CDATA[ &amp; " \' """ \\ : = , ( ) # // /* */ - & * << !! | ? a b 1 null True __proto__ constructor [a]';
const pieces = fc.constantFrom(...SIGNS.split(' '), ' ', '  ', '\n', '\t', '\r\n', ': ', ' = ', '\u0000', '\ud800');
const texts = fc.array(fc.oneof({ weight: 6, arbitrary: pieces }, fc.string()), { maxLength: 30 });
const names = fc.oneof(fc.constantFrom('a', '__proto__', 'a b'), fc.string());
const updates = fc.dictionary(names, fc.jsonValue({ maxDepth: 3 }), { maxKeys: 4 });

/** What a format answers with anything but a value or a Problem below 500. */
export async function fuzzFormats(seed: number, count: number): Promise<readonly string[]> {
  const faults: string[] = [];
  for (const [parts, update] of fc.sample(fc.tuple(texts, updates), { seed, numRuns: count })) {
    const text = parts.join('');
    for (const format of FORMATS) {
      const attempts: Readonly<Record<string, () => unknown>> = {
        parse: () => format.parse(text),
        readUpdate: () => format.readUpdate(text),
        edit: () => format.edit(text, update as FileObject, 'merge'),
      };
      for (const [what, attempt] of Object.entries(attempts)) {
        const error: unknown = await Promise.resolve()
          .then(attempt)
          .then(
            () => undefined,
            failure => failure,
          );
        if (error === undefined || (error instanceof Problem && error.status < 500)) continue;
        faults.push(`${format.name}.${what} of ${JSON.stringify([text, update])}: ${error}`);
      }
    }
  }
  return faults;
}
