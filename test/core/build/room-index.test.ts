// The READMEs of large rooms list each file once, with its first sentence.
import { readFile } from 'node:fs/promises';
import t from 'tap';
import { LARGE_ROOMS, pageOf, withPurposes } from '../../../core/build/room-index.ts';

t.test('the pages are up to date; npm run docs writes them', async t => {
  for (const room of LARGE_ROOMS) {
    const page = await readFile(pageOf(room), 'utf8');
    t.equal(await withPurposes(room, page), page, room);
  }
});

t.test('a file that is missing, listed twice or gone is reported', async t => {
  const room = 'core/kit';
  const page = await readFile(pageOf(room), 'utf8');
  const row = page.split('\n').find(line => line.startsWith('- [slug]')) as string;
  t.match(row, /: The name of a process as a part of file names$/);
  await t.rejects(withPurposes(room, page.replace(`${row}\n`, '')), /has no line for slug$/);
  await t.rejects(withPurposes(room, page.replace(row, `${row}\n${row}`)), /slug twice/);
  await t.rejects(
    withPurposes(room, `${page}- [no-such-tool](no-such-tool.ts)\n`),
    /no-such-tool twice, or it is gone/,
  );
});
