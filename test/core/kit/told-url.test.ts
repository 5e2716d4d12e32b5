// Addresses that servers give: relative ones, and those that must not be requested.
import fc from 'fast-check';
import t from 'tap';
import { toldUrl } from '../../../core/kit/told-url.ts';
import { ANY_CHARACTER } from '../../support/any-character.ts';

const FEED = 'https://feed.example/releases?os=linux';

t.test('absolute and relative addresses are resolved', async t => {
  for (const [text, url] of [
    ['https://files.example/a.tar.gz', 'https://files.example/a.tar.gz'],
    ['/a.tar.gz', 'https://feed.example/a.tar.gz'],
    ['//files.example:8443/a', 'https://files.example:8443/a'],
    ['http://mirror.example/a', 'http://mirror.example/a'],
  ] as const)
    t.equal(toldUrl(text, FEED).href, url, text);
});

t.test('addresses that are no plain HTTP addresses are refused', async t => {
  for (const text of [
    'file:///etc/passwd',
    'ftp://files.example/a',
    'data:text/plain,x',
    'javascript:alert(1)',
    'https://user:secret@files.example/a',
    'https://files.example/a\r\nx-more: 1',
    'https://files.example/a b',
    'https://files.example/\u0000',
    '\thttps://files.example/',
    'https://',
    `https://files.example/${'x'.repeat(5_000)}`,
  ])
    t.throws(
      () => toldUrl(text, FEED),
      { status: 502, message: /^feed\.example leads to ".+", which is no plain/ },
      text,
    );
});

t.test('a refusal is one line, whatever the address', async t => {
  const isOneLine = (text: string) => {
    try {
      return /^https?:$/.test(toldUrl(text, FEED).protocol);
    } catch (error) {
      return !/\p{Cc}|\p{Zl}|\p{Zp}/u.test((error as Error).message);
    }
  };
  const law = fc.property(fc.string({ unit: ANY_CHARACTER, maxLength: 50 }), isOneLine);
  t.doesNotThrow(() => fc.assert(law, { numRuns: 300 }));
});
