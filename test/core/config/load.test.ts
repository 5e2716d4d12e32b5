// The error for a configuration file that cannot be used: where it is wrong, and what was expected.
import t from 'tap';
import { formatOf, parseConfig } from '../../../core/config/load.ts';

const TOLD: readonly [name: string, text: string, message: string][] = [
  ['a.yaml', ' \n', 'a.yaml is empty; write {} into it, or remove it'],
  ['a.yaml', 'tz: a\n---\ntz: b\n', 'a.yaml:2:1: Only one document may stand here'],
  ['a.yaml', 'tz: a\ntz: b\n', 'a.yaml:2:1: Map keys must be unique'],
  ['a.yaml', '- tz\n', 'a.yaml:1:1: an object was expected at the top'],
  ['a.json', '[]', 'a.json:1:1: an object was expected at the top'],
];

for (const [name, text, message] of TOLD)
  t.test(`the error of ${name} with ${JSON.stringify(text)} names its place`, async t => {
    t.throws(() => parseConfig(text, name, formatOf(name)), { message });
  });
