// `stackwarden logs --follow` when its output is not read: it requests no more, so it stays small, and reports what is
// skipped. The host is a stand-in that counts requests.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import t from 'tap';
import { runCommand } from '../../support/command.ts';
import { testDir } from '../../support/directory.ts';
import { spawnStackwarden } from '../../support/stackwarden.ts';
import { until } from '../../support/until.ts';

const LINE = 'a line of a log that is written quite often, and long enough to fill a pipe soon\n';
const LINES = 12_000;
const CHUNK = LINE.repeat(LINES);
/** More bytes than the host gives in one answer. */
const FAR_BYTES = 20 * 1024 * 1024;

t.test('a follower waits for its reader', async t => {
  const configDir = testDir(t, {});
  let asked = 0;
  let size = 0;
  let chunk = CHUNK;
  const server = createServer((request, response) => {
    if (request.url?.startsWith('/logs') !== true) {
      response.end('{"processes":[]}');
      return;
    }
    asked += 1;
    if (asked === 1) size = chunk.length;
    // At the second request the log is far ahead of the follower.
    response.end(JSON.stringify({ size, cursor: size, chunk, reset: asked <= 2, file_id: 'a' }));
    chunk = '';
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const following = spawnStackwarden(configDir, {
    args: ['--url', base, 'logs', '--follow', '--lines', String(LINES)],
  });
  t.teardown(() => following.child.kill('SIGKILL'));
  following.child.stdout?.pause();
  await until(() => asked > 0, { what: 'the first page' });
  for (let count = 0; count < 4; count += 1) await runCommand({ configDir, base }, 'status');
  t.equal(asked, 1, 'nothing is asked for while nobody reads');

  chunk = 'the newest line\n';
  size += FAR_BYTES;
  following.child.stdout?.resume();
  await until(() => following.stdout().includes('the newest line'), { what: 'what came meanwhile' });
  t.ok(following.stdout().startsWith(CHUNK), 'all that was asked for is printed');
  t.match(following.stderr(), /^lines of DUMB API are left out here, because they came faster than they were read\n/);
});
