// R26: the host is killed with SIGKILL while 20 children write 1 MB/s each, and started again later.
import { existsSync } from 'node:fs';
import { chmod, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { testDir } from '../support/directory.ts';
import { startStackwarden, writeConfig } from '../support/stackwarden.ts';
import { until } from '../support/until.ts';

const PLUGINS = ['config', 'process'];

const WRITERS = 20;
const LINES = 30_000;

/**
 * Writes numbered lines of 250 bytes, about 1 MB/s, then waits for its end. The last ones are written when the test has
 * killed the host. Reports the longest time a write took.
 */
const writer = `
const { existsSync, writeSync, writeFileSync } = require('node:fs')
const [, , name, resultFile, killedFile] = process.argv
const filling = 'x'.repeat(230)
let number = 0
let longestMs = 0
const timer = setInterval(() => {
  const before = performance.now()
  const limit = existsSync(killedFile) ? ${LINES} : ${LINES - 1_000}
  for (let line = 0; line < 200 && number < limit; line += 1) writeSync(1, 'line ' + String(number++).padStart(6, '0') + ' ' + filling + '\\n')
  longestMs = Math.max(longestMs, performance.now() - before)
  if (number < ${LINES}) return
  clearInterval(timer)
  writeFileSync(resultFile, String(Math.round(longestMs)))
  setInterval(() => {}, 60_000)
}, 50)
`;

interface StatusEntry {
  readonly process_name: string;
  readonly status: string;
}

t.test(
  'every child keeps its pid, none is blocked, and every line stands exactly once in its log',
  { timeout: 240_000 },
  async t => {
    const configDir = testDir(t, { 'writer.cjs': writer, results: {} });
    await chmod(configDir, 0o755);
    await chmod(path.join(configDir, 'results'), 0o777);
    const logDir = path.join(configDir, 'log');
    await mkdir(logDir);
    const names = Array.from({ length: WRITERS }, (_, index) => `Writer ${index}`);
    const blocks = names.map((name, index) => [
      `writer_${index}`,
      {
        enabled: true,
        process_name: name,
        command: [
          process.execPath,
          path.join(configDir, 'writer.cjs'),
          name,
          path.join(configDir, 'results', `${index}`),
          path.join(configDir, 'killed'),
        ],
        log_file: path.join(logDir, `writer-${index}.log`),
        suppress_logging: true,
      },
    ]);
    const port = await writeConfig(configDir, {
      ...Object.fromEntries(blocks),
      dumb: { log_dir: logDir, log_size: '2M', log_count: 50, gateway: { enabled: false } },
    });
    const statuses = async (base: string) =>
      ((await (await fetch(`${base}/process/processes`)).json()) as { processes: StatusEntry[] }).processes.filter(
        entry => names.includes(entry.process_name),
      );
    const allRun = (base: string) =>
      until(async () => (await statuses(base)).every(entry => entry.status === 'running'), {
        timeoutMs: 60_000,
        what: 'every child to be told as running',
      });
    const pids = async () => {
      const state = JSON.parse(await readFile(path.join(configDir, 'supervisor', 'state.json'), 'utf8')) as {
        processes: Record<string, { pid: number }>;
      };
      return Object.fromEntries(names.map(name => [name, state.processes[name]?.pid]));
    };

    const first = await startStackwarden(configDir, port, { plugins: PLUGINS });
    await allRun(first.base);
    const before = await pids();
    t.ok(Object.values(before).every(pid => typeof pid === 'number'));
    first.child.kill('SIGKILL');
    await first.exited;
    const written = async () =>
      Promise.all(names.map((_, index) => existsSync(path.join(configDir, 'results', `${index}`))));
    const early = (await written()).filter(Boolean).length;
    t.equal(early, 0, 'the children were still writing when the host was killed');
    await writeFile(path.join(configDir, 'killed'), '');
    t.ok(
      Object.values(before).every(pid => existsSync(`/proc/${pid}`)),
      'the children live on without the host',
    );
    await until(async () => (await written()).some(Boolean), {
      timeoutMs: 120_000,
      what: 'a child to end its writing alone',
    });

    const second = await startStackwarden(configDir, port, { plugins: PLUGINS });
    t.teardown(async () => {
      second.child.kill('SIGTERM');
      await second.exited;
    });
    await allRun(second.base);
    t.same(await pids(), before, 'the same processes, none restarted');
    await until(async () => (await written()).every(Boolean), { timeoutMs: 120_000, what: 'every child to finish' });

    for (const [index, name] of names.entries()) {
      const numbers = await until(
        async () => {
          const found = await numbersOf(logDir, `writer-${index}`);
          return found.length >= LINES ? found : undefined;
        },
        { timeoutMs: 60_000, what: `every line of ${name}` },
      );
      t.equal(numbers.length, LINES, `${name}: as many lines as were written`);
      t.equal(new Set(numbers).size, LINES, `${name}: no line twice`);
    }
  },
);

async function numbersOf(directory: string, base: string): Promise<number[]> {
  const files = (await readdir(directory)).filter(file => file === `${base}.log` || file.startsWith(`${base}-`));
  const texts = await Promise.all(files.map(file => readFile(path.join(directory, file), 'utf8')));
  return texts.flatMap(text => [...text.matchAll(/line (\d{6}) x/g)].map(match => Number(match[1])));
}
