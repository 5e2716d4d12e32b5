// The young generation of the heap does not grow while a host starts, and may grow afterwards.
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import t from 'tap';
import { testDir } from '../../support/directory.ts';
import { startStackwarden, writeConfig } from '../../support/stackwarden.ts';
import { until } from '../../support/until.ts';

/** SIGUSR2 makes objects that survive for a while, and tells how large the young generation was before and then is. */
const METER = `
import { appendFileSync } from 'node:fs';
import { getHeapSpaceStatistics } from 'node:v8';
import { isMainThread } from 'node:worker_threads';
const youngMb = () => getHeapSpaceStatistics().find(space => space.space_name === 'new_space').space_size / 2 ** 20;
if (isMainThread) process.on('SIGUSR2', () => {
  const beforeMb = youngMb();
  const recent = [];
  for (let index = 0; index < 2_000_000; index += 1) recent[index % 50_000] = { index };
  appendFileSync(process.env.METER_FILE, JSON.stringify({ beforeMb, afterMb: youngMb() }) + '\\n');
});
`;

/** Whatever turns TypeScript into JavaScript lets it grow before there is a host. */
const needsBuild = process.env.STACKWARDEN_TEST_BUILD === undefined && 'it is about a build';
/** Without the limit of a start it is twice 16 MB. */
const SMALL_MB = 8;

t.test('a start leaves the young generation small, and requests may let it grow', { skip: needsBuild }, async t => {
  const configDir = testDir(t);
  const [meter, told] = [path.join(configDir, 'meter.mjs'), path.join(configDir, 'told')];
  await writeFile(meter, METER);
  await writeFile(told, '');
  const port = await writeConfig(configDir);
  const env = { NODE_OPTIONS: `--import=${pathToFileURL(meter)}`, METER_FILE: told };
  const host = await startStackwarden(configDir, port, { env });
  const sizes = async () => {
    const lines = (await readFile(told, 'utf8')).split('\n').slice(0, -1);
    return lines.map(line => JSON.parse(line) as { beforeMb: number; afterMb: number });
  };
  host.child.kill('SIGUSR2');
  const first = await until(async () => (await sizes()).at(0), { what: 'the size' });
  t.ok(first.beforeMb <= SMALL_MB, `${first.beforeMb} MB`);
  await until(
    async () => {
      host.child.kill('SIGUSR2');
      return (await sizes()).some(({ afterMb }) => afterMb > SMALL_MB);
    },
    { what: 'it to grow', intervalMs: 200 },
  );
  host.child.kill('SIGTERM');
  await host.exited;
});
