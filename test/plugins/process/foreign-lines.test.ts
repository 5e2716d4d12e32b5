// Lines that another program writes for a process appear in its logs like its own.
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { kid } from '../../support/kids.ts';
import { ownLog } from '../../support/own-log.ts';
import { startWithPlugins } from '../../support/own-plugins.ts';
import { until } from '../../support/until.ts';

t.test('lines of a build appear in the log of the service', async t => {
  const told = ['compiles 3 files', 'WARNING: api_key=abcdef0123456789', ''];
  const app = await startWithPlugins(
    t,
    {
      builder: `host.tap('host.ready', async () => {
        for (const name of ['Seen', 'Quiet', 'Nobody']) await host.use('process.supervisor').record(name, ${JSON.stringify(told)})
      })`,
    },
    {
      shipped: ['config', 'process'],
      config: {
        seen: kid('Seen', ['sleep'], { suppress_logging: false, log_level: 'WARNING' }),
        quiet: kid('Quiet', ['sleep']),
      },
    },
  );
  const directory = path.join(app.configDir, 'log');
  const log = `${(await ownLog(app)).join('\n')}\n`;
  t.match(log, / - INFO - Seen subprocess: compiles 3 files\n/);
  t.match(log, / - WARNING - Seen subprocess: WARNING: api_key=\[REDACTED\]\n/);
  t.notMatch(log, /Quiet subprocess|abcdef/);
  const own = (name: string) => readFile(path.join(directory, `${name}.log`), 'utf8');
  t.notMatch(await own('seen'), /compiles/, 'its own log has what its level lets through');
  t.match(await own('seen'), /api_key=\[REDACTED\]\n/);
  t.match(await own('quiet'), /compiles 3 files\n/);
});

const BATCHES = 300;
const LINES = 5;
const PADDING = 'x'.repeat(60);
/** Prints as many lines as the build, in pieces. */
const PRINTS = `
  let n = 0;
  const print = () => {
    let text = '';
    for (let i = 0; i < ${LINES}; i += 1) text += 'printed ' + (n += 1) + ' ${PADDING}.\\n';
    process.stdout.write(text);
    if (n < ${BATCHES * LINES}) setTimeout(print, 5);
  };
  print();
  setInterval(() => undefined, 60_000);`;

t.test('lines of a build beside those of the service outlast the rotations of their log', async t => {
  const app = await startWithPlugins(
    t,
    {
      builder: `host.tap('host.ready', async () => {
        for (let n = 0; n < ${BATCHES * LINES};) {
          const lines = Array.from({ length: ${LINES} }, () => 'built ' + (n += 1) + ' ${PADDING}.')
          await host.use('process.supervisor').record('Busy', lines)
          await new Promise(resolve => setTimeout(resolve, 3))
        }
      })`,
    },
    {
      shipped: ['config', 'process'],
      config: {
        dumb: { log_size: '2K', log_count: 100_000 },
        busy: { ...kid('Busy', [], { enabled: true }), command: [process.execPath, '-e', PRINTS] },
      },
    },
  );
  const directory = path.join(app.configDir, 'log');
  const numbers = async (what: string): Promise<number[]> => {
    const logs = (await readdir(directory)).filter(name => name.startsWith('busy'));
    const texts = await Promise.all(logs.map(log => readFile(path.join(directory, log), 'utf8')));
    const lines = texts.join('').matchAll(new RegExp(`Busy subprocess: ${what} (\\d+) `, 'g'));
    return [...lines].map(([, number]) => Number(number)).sort((a, b) => a - b);
  };
  const wanted = Array.from({ length: BATCHES * LINES }, (_, index) => index + 1);
  for (const what of ['printed', 'built']) {
    await until(async () => (await numbers(what)).at(-1) === wanted.at(-1), { what: `the last line ${what}` });
    t.same(await numbers(what), wanted, what);
  }
});
