// Names of instances keep the letters of every alphabet, and lose what paths cannot have.
import t from 'tap';
import { cleanInstanceName } from '../../../plugins/wizard/components.ts';

t.test('letters keep their combining marks', async t => {
  for (const name of ['हिन्दी', 'தமிழ்', 'ภาพยนตร์', 'Séries 4K', '电影'])
    t.equal(cleanInstanceName(name), name.normalize('NFC'), name);
  t.equal(cleanInstanceName('Se\u0301ries'), 'S\u00E9ries', 'as a keyboard of another machine writes it');
});

t.test('characters that are no part of a name are removed', async t => {
  t.equal(cleanInstanceName(' 4K / HDR! '), '4K  HDR');
  t.equal(cleanInstanceName('../\u0301a'), 'a', 'a mark without a letter');
  for (const nothing of ['', '../..', '\u0301 \u0301', '\u202E\0']) t.equal(cleanInstanceName(nothing), 'Instance');
  t.throws(() => cleanInstanceName('__proto__'), { name: 'Problem' });
  t.throws(() => cleanInstanceName('x'.repeat(65)), { name: 'Problem' });
});
