// The page of the kit names each of its tools once, with what its file says of it.
import { readFile } from 'node:fs/promises';
import t from 'tap';
import { KIT_README, withTools } from '../../../core/build/kit-index.ts';

t.test('the page is up to date; npm run docs writes it', async t => {
  const page = await readFile(KIT_README, 'utf8');
  t.equal(await withTools(page), page);
});

t.test('a tool that is missing, twice there or gone is told', async t => {
  const page = await readFile(KIT_README, 'utf8');
  const row = page.split('\n').find(line => line.startsWith('- [slug]')) as string;
  t.match(row, /: The name of a process as a part of file names$/);
  await t.rejects(withTools(page.replace(`${row}\n`, '')), /has no line for slug$/);
  await t.rejects(withTools(page.replace(row, `${row}\n${row}`)), /slug twice/);
  await t.rejects(withTools(`${page}- [no-such-tool](no-such-tool.ts)\n`), /no-such-tool twice, or it is gone/);
});
