// Addresses that servers tell: what may be asked of another server, and what leads into this machine.
import fc from 'fast-check';
import t from 'tap';
import { toldUrl } from '../../../core/kit/told-url.ts';

const FEED = 'https://feed.example/releases?os=linux';

t.test('what may be asked', async t => {
  for (const [text, url] of [
    ['https://files.example/a.tar.gz', 'https://files.example/a.tar.gz'],
    ['/a.tar.gz', 'https://feed.example/a.tar.gz'],
    ['//files.example:8443/a', 'https://files.example:8443/a'],
    ['https://feed.example:444/a', 'https://feed.example:444/a'],
    ['https://93.184.215.14/a', 'https://93.184.215.14/a'],
    ['https://[2606:4700::1]/a', 'https://[2606:4700::1]/a'],
  ] as const)
    t.equal((await toldUrl(text, FEED)).href, url, text);
  const own = 'https://127.0.0.1:8443/feed';
  t.equal((await toldUrl('https://localhost:9/a', own)).port, '9', 'a server that is inside may lead inside');
  t.equal((await toldUrl('http://127.0.0.1/a', 'http://mirror.lan/')).protocol, 'http:', 'http may lead to http');
});

t.test('what may not', async t => {
  for (const text of [
    'http://files.example/a',
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
    'https://localhost/a',
    'https://a.localhost/a',
    'https://printer/a',
    'https://nas.local/a',
    'https://127.0.0.1:8000/process/stop-service',
    'https://2130706433/a',
    'https://0x7f.1/a',
    'https://[::1]/a',
    'https://[::]/a',
    'https://[::ffff:127.0.0.1]/a',
    'https://[64:ff9b::7f00:1]/a',
    'https://10.1.2.3/a',
    'https://172.16.0.1/a',
    'https://192.168.1.1/a',
    'https://169.254.169.254/latest/meta-data',
    'https://100.64.0.1/a',
    'https://0.0.0.0/a',
    'https://[fe80::1]/a',
    'https://[fd00::1]/a',
  ])
    await t.rejects(
      toldUrl(text, FEED),
      { status: 502, message: /^feed\.example leads to ".+, .+; nothing was/s },
      text,
    );
});

t.test('a refusal is one line whatever is told', async t => {
  const isOneLine = async (text: string) => {
    const told = await toldUrl(text, 'http://127.0.0.1/feed').catch((error: Error) => error);
    return told instanceof Error ? !/\p{Cc}|\p{Zl}|\p{Zp}/u.test(told.message) : /^https?:$/.test(told.protocol);
  };
  await fc.assert(fc.asyncProperty(fc.string({ unit: 'binary', maxLength: 50 }), isOneLine), { numRuns: 300 });
  t.pass();
});
