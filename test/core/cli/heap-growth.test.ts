// Garbage does not let the heap of a running host grow to several times the size of living objects.
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import t from 'tap';
import { addressInLock } from '../../../core/cli/lock-address.ts';
import { testDir } from '../../support/directory.ts';
import { startStackwarden, writeConfig } from '../../support/stackwarden.ts';
import { until } from '../../support/until.ts';

/**
 * On SIGUSR2 it replaces long-lived objects for a while, and writes the most and the least that the old generation
 * held.
 */
const METER = `
import { appendFileSync } from 'node:fs';
import { getHeapSpaceStatistics } from 'node:v8';
import { isMainThread } from 'node:worker_threads';
const COUNT = 300_000;
const oldBytes = () => getHeapSpaceStatistics().find(space => space.space_name === 'old_space').space_used_size;
if (isMainThread) process.on('SIGUSR2', () => {
  const living = [];
  const sizes = [];
  for (let index = 0; index < 7 * COUNT; index += 1) {
    living[(index * 7_919) % COUNT] = { index, numbers: [index, index + 1, index + 2], text: 'x' + index };
    if (index > 2 * COUNT && index % 20_000 === 0) sizes.push(oldBytes());
  }
  appendFileSync(process.env.METER_FILE, Math.max(...sizes) / Math.min(...sizes) + '\\n');
});
`;

/** V8's own choice would be four. */
const MOST = 2.5;
const MOST_ROUNDS = 4;

t.test('the heap of a running host stays near the size of living objects', async t => {
  const configDir = testDir(t);
  const [meter, told] = [path.join(configDir, 'meter.mjs'), path.join(configDir, 'told')];
  await writeFile(meter, METER);
  await writeFile(told, '');
  const port = await writeConfig(configDir);
  const env = { NODE_OPTIONS: `--import=${pathToFileURL(meter)}`, METER_FILE: told };
  const host = await startStackwarden(configDir, port, { env });
  const ratios = async () => (await readFile(told, 'utf8')).split('\n').filter(Boolean).map(Number);
  // A host answers a little before its start is over, which its lock file shows.
  await until(() => addressInLock(configDir));
  for (let round = 1; round <= MOST_ROUNDS && !(await ratios()).some(ratio => ratio < MOST); round += 1) {
    host.child.kill('SIGUSR2');
    await until(async () => (await ratios()).length === round, { what: 'the sizes' });
  }
  t.ok(
    (await ratios()).some(ratio => ratio < MOST),
    `it grew ${(await ratios()).join(', ')} times as large`,
  );
  host.child.kill('SIGTERM');
  await host.exited;
});
