// The young generation of the heap stays small while a host starts, and may grow afterwards.
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import t, { type Test } from 'tap';
import { testDir } from '../../support/directory.ts';
import { type StackwardenOptions, startStackwarden, writeConfig } from '../../support/stackwarden.ts';
import { until } from '../../support/until.ts';

/**
 * On SIGUSR2 it creates objects that survive for a while, and writes the size of the young generation before and after.
 * On SIGUSR1 it starts a thread first.
 */
const METER = `
import { appendFileSync } from 'node:fs';
import { getHeapSpaceStatistics } from 'node:v8';
import { isMainThread, Worker } from 'node:worker_threads';
const youngMb = () => getHeapSpaceStatistics().find(space => space.space_name === 'new_space').space_size / 2 ** 20;
const measure = () => {
  const beforeMb = youngMb();
  const recent = [];
  for (let index = 0; index < 2_000_000; index += 1) recent[index % 50_000] = { index };
  appendFileSync(process.env.METER_FILE, JSON.stringify({ beforeMb, afterMb: youngMb() }) + '\\n');
};
if (isMainThread) {
  process.on('SIGUSR2', measure);
  process.on('SIGUSR1', () => new Worker('', { eval: true }).once('exit', measure));
}
`;

/** From the sources, the TypeScript compiler makes it grow before there is a host. */
const needsBuild = process.env.STACKWARDEN_TEST_BUILD === undefined && 'it is about a build';
/** Without the limit during a start it becomes twice 16 MB. */
const SMALL_MB = 16;
/** The start of a thread may let it grow by one step. */
const STEP_MB = 8;

interface Sizes {
  readonly beforeMb: number;
  readonly afterMb: number;
}

async function metered(t: Test, options: Pick<StackwardenOptions, 'args' | 'plugins'> = {}) {
  const configDir = testDir(t);
  const [meter, told] = [path.join(configDir, 'meter.mjs'), path.join(configDir, 'told')];
  await writeFile(meter, METER);
  await writeFile(told, '');
  const port = await writeConfig(configDir);
  const env = { NODE_OPTIONS: `--import=${pathToFileURL(meter)}`, METER_FILE: told };
  const host = await startStackwarden(configDir, port, { env, ...options });
  const sizes = async (): Promise<Sizes[]> =>
    (await readFile(told, 'utf8'))
      .split('\n')
      .slice(0, -1)
      .map(line => JSON.parse(line));
  return { host, sizes };
}

t.test('a start leaves the young generation small, and requests may let it grow', { skip: needsBuild }, async t => {
  const { host, sizes } = await metered(t);
  host.child.kill('SIGUSR2');
  const first = await until(async () => (await sizes()).at(0), { what: 'the size' });
  t.ok(first.beforeMb <= SMALL_MB, `${first.beforeMb} MB`);
  await until(
    async () => {
      host.child.kill('SIGUSR2');
      return (await sizes()).some(({ afterMb }) => afterMb > SMALL_MB);
    },
    { what: 'it to grow', intervalMs: 1_000, timeoutMs: 240_000 },
  );
  host.child.kill('SIGTERM');
  await host.exited;
});

t.test('a thread that begins during a start does not let it grow', { skip: needsBuild }, async t => {
  // This pace keeps the start going until it is examined.
  const { host, sizes } = await metered(t, { args: ['--pace', '20'], plugins: ['config'] });
  host.child.kill('SIGUSR1');
  const { afterMb } = await until(async () => (await sizes()).at(0), { what: 'the size' });
  t.ok(afterMb <= SMALL_MB + STEP_MB, `${afterMb} MB`);
  host.child.kill('SIGTERM');
  await host.exited;
});
