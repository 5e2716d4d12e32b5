// V8 optimizes less code while a host starts, and as usual afterwards.
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { testDir } from '../../support/directory.ts';
import { startStackwarden, writeConfig } from '../../support/stackwarden.ts';
import { until } from '../../support/until.ts';

/**
 * Calls a function more often than V8 by default needs to optimize it, and writes each time whether it is optimized.
 */
const METER = `
import { appendFileSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
// Newer releases of V8 have one bit less below this one.
const TURBOFANNED = 1 << (Number.parseInt(process.versions.v8) < 14 ? 6 : 5);
setFlagsFromString('--allow-natives-syntax');
const statusOf = new Function('hot', 'return %GetOptimizationStatus(hot)');
const hot = number => (number * 31 + 7) % 1_000_003;
const measure = () => {
  let sum = 0;
  for (let index = 0; index < 1_500; index += 1) sum += hot(index);
  appendFileSync(process.env.METER_FILE, ([hot, measure].some(each => statusOf(each) & TURBOFANNED) ? 'optimized' : 'held') + '\\n');
  return sum;
};
export default {
  name: 'meter',
  host: '^1',
  async setup() {
    // Code that is compiled in another thread is used only in a later turn.
    for (let round = 0; round < 20; round += 1) {
      measure();
      await new Promise(resolve => setTimeout(resolve, 5));
    }
    const timer = setInterval(measure, 20);
    return () => clearInterval(timer);
  },
};
`;
const ROUNDS_OF_SETUP = 20;

t.test('code that runs fairly often is optimized only after the start', async t => {
  const configDir = testDir(t);
  const [folder, told] = [path.join(configDir, 'plugins', 'meter'), path.join(configDir, 'told')];
  await mkdir(folder, { recursive: true });
  await writeFile(path.join(folder, 'index.mjs'), METER);
  await writeFile(told, '');
  const port = await writeConfig(configDir);
  const host = await startStackwarden(configDir, port, { env: { METER_FILE: told }, plugins: ['config', 'meter'] });
  const rounds = async () => (await readFile(told, 'utf8')).split('\n').slice(0, -1);
  const isLater = async () => (await rounds()).slice(ROUNDS_OF_SETUP).includes('optimized');
  await until(isLater, { what: 'the function to be optimized' });
  t.notOk((await rounds()).slice(0, ROUNDS_OF_SETUP).includes('optimized'), 'it is held during the set-up');
  host.child.kill('SIGTERM');
  await host.exited;
});
