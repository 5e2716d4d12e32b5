// Lines that another program writes for a process appear in its logs like its own.
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { kid } from '../../support/kids.ts';
import { ownLog } from '../../support/own-log.ts';
import { startWithPlugins } from '../../support/own-plugins.ts';

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
