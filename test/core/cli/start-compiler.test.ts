// V8 optimizes less while a host starts, and as it does by itself afterwards.
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { testDir } from '../../support/directory.ts';
import { startStackwarden, writeConfig } from '../../support/stackwarden.ts';
import { until } from '../../support/until.ts';

/**
 * Runs a function as often as V8 by itself leaves it alone and oftener, and tells each time whether it was optimized.
 */
const METER = `
import { appendFileSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
// V8 has given up a bit below it meanwhile.
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
    // What is compiled in a thread of its own is in use a turn later.
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

t.test('code that runs somewhat often is optimized when the start is over', async t => {
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
