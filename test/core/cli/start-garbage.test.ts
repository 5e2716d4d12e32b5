// Garbage of the start is collected once the host is idle, and not only when much more has come.
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import t from 'tap';
import { testDir } from '../../support/directory.ts';
import { startStackwarden, writeConfig } from '../../support/stackwarden.ts';
import { until } from '../../support/until.ts';

const LEFT_MB = 30;

/**
 * Takes memory as a start does, releases it when told to, and writes how much is in use. V8 itself has no reason to
 * collect.
 */
const METER = `
import { writeFileSync } from 'node:fs';
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';
import { isMainThread } from 'node:worker_threads';
const oldMb = () => getHeapSpaceStatistics().find(space => space.space_name === 'old_space').space_used_size / 2 ** 20;
if (isMainThread) {
  setFlagsFromString('--no-memory-reducer');
  const tell = () => writeFileSync(process.env.METER_FILE, String(oldMb()));
  const beforeMb = oldMb();
  let left = [];
  while (oldMb() < beforeMb + ${LEFT_MB}) left.push({ index: left.length });
  process.once('SIGUSR2', () => {
    tell();
    left = undefined;
    setInterval(tell, 100).unref();
  });
}
`;

t.test('the garbage of a start is collected', async t => {
  const configDir = testDir(t);
  const [meter, told] = [path.join(configDir, 'meter.mjs'), path.join(configDir, 'told')];
  await writeFile(meter, METER);
  const port = await writeConfig(configDir);
  const env = { NODE_OPTIONS: `--import=${pathToFileURL(meter)}`, METER_FILE: told };
  const host = await startStackwarden(configDir, port, { env, plugins: ['config'] });
  host.child.kill('SIGUSR2');
  const usedMb = async () => Number(await readFile(told, 'utf8').catch(() => 0));
  const atFirstMb = await until(usedMb);
  const mostMb = atFirstMb - LEFT_MB / 2;
  await until(async () => ((await usedMb()) || atFirstMb) < mostMb, { what: `less than ${mostMb} MB` });
  t.ok((await usedMb()) < atFirstMb);
  host.child.kill('SIGTERM');
  await host.exited;
});
