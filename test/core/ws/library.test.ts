// The WebSocket library is loaded for the first client of a stream. If that fails the client is refused, and the next
// one is served. A build always has the library, so this is a host from the sources.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import t from 'tap';
import { testDir } from '../../support/directory.ts';
import { TYPESCRIPT } from '../../support/typescript.ts';

const run = promisify(execFile);
const from = (source: string) => JSON.stringify(new URL(`../../support/${source}`, import.meta.url).href);

/** A host without free descriptors for its first client. */
const PROGRAM = `
import { closeSync, openSync } from 'node:fs';
import { openEntrance } from ${from('entrance.ts')};
import { handshakeTo } from ${from('raw-http.ts')};
const entrance = await openEntrance(process.argv[1]);
entrance.http.addStream('a', { path: '/ws/a', summary: 'a', open: client => client.close(1000, 'seen') });
const taken = [];
entrance.access = {
  enabled: () => true,
  check: () => {
    try {
      while (taken.length < 1_000_000) taken.push(openSync('/dev/null'));
    } catch {
      return { username: 'ann' };
    }
  },
};
const answers = [await entrance.raw(handshakeTo('/ws/a'))];
for (const descriptor of taken) closeSync(descriptor);
entrance.access = undefined;
answers.push(await entrance.raw(handshakeTo('/ws/a')));
await entrance.close();
console.log(JSON.stringify({ answers, lines: entrance.lines }));
`;

t.test('a client that comes while the library cannot be loaded is refused, the next one is served', async t => {
  const node = [process.execPath, TYPESCRIPT, '--input-type=module', '-e', PROGRAM, testDir(t)];
  const { stdout } = await run('prlimit', ['--nofile=128', ...node], { timeout: 60_000 });
  const { answers, lines } = JSON.parse(stdout);
  t.match(answers[0], /^HTTP\/1\.1 503 .*{"detail":"No stream can be opened at present; try again in a moment"}$/s);
  t.match(lines.join('\n'), /ERROR streams cannot be opened .*(EMFILE|too many open files)/);
  t.match(answers[1], /^HTTP\/1\.1 101 .*seen$/s);
});
