// Every regular expression of the product takes time in step with the length of its text.
import t from 'tap';
import { findPatterns, findSlowInput } from './patterns.ts';

/** Files that make patterns of texts, and why these are linear all the same. */
const KNOWN_MAKERS: Readonly<Record<string, string>> = {
  'core/build/module-text.ts': 'the names of modules of a build',
  'core/build/places.ts': 'the names of sources of the product, when it is built',
  'core/build/seams.ts': 'reads the sources of the product alone, when its documentation is made',
  'core/kit/secret-names.ts': 'a list of words; test/attacks/17-redaction.test.ts gives it its near matches',
  'core/kit/secret-shapes.ts': 'a list of words; test/attacks/17-redaction.test.ts gives it its near matches',
  'plugins/gateway/ui-destinations.ts': 'the name of a cookie, which has a fixed place',
  'plugins/process/launch/command-words.ts':
    'alternatives that begin with different characters, which are in the list one by one',
  'plugins/services/block-schema.ts': 'patterns of templates, which are in the list',
  'plugins/services/catalogue.ts': 'a word of a template',
  'plugins/symlinks/schedule/manifest-name.ts': 'the name of a file, escaped, and numbers of digits',
};

t.test('the check finds what is slow', async t => {
  for (const source of ['\\s+$', '(a+)+b', '[a-z]+\\d', 'x-.*token', '<element[^>]*\\ssize="'])
    t.type(findSlowInput({ source, flags: '' }), 'string', source);
  for (const source of ['^\\s+', '(?<!\\s)\\s+$', '[a-z]+', 'token'])
    t.equal(findSlowInput({ source, flags: 'i' }), undefined);
});

t.test('every pattern is linear', { timeout: 240_000 }, async t => {
  const { patterns, makers } = await findPatterns();
  t.ok(patterns.length > 200, `${patterns.length} patterns`);
  t.same([...makers].sort(), Object.keys(KNOWN_MAKERS).sort(), 'what is made of texts is known');
  const slowInputs = new Map<string, string | undefined>();
  for (const pattern of patterns) {
    const literal = `/${pattern.source}/${pattern.flags}`;
    if (!slowInputs.has(literal)) slowInputs.set(literal, findSlowInput(pattern));
    t.equal(slowInputs.get(literal), undefined, `${pattern.place} ${literal}`);
  }
});
