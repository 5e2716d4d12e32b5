// Line 19: a plugin that ends the process is named, and not loaded again until it changes.
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { testDir } from '../support/directory.ts';
import { type RunningStackwarden, spawnStackwarden, startStackwarden, writeConfig } from '../support/stackwarden.ts';
import { until } from '../support/until.ts';

const source = (atImport: string, inSetup: string) =>
  `${atImport}; export default { name: 'quitter', host: '^1', setup (host) { ${inSetup} } }`;
const sources: Record<string, string> = {
  'when it is imported': source('process.exit(3)', ''),
  'in its set-up': source('', 'process.exit(0)'),
  'in a timer': source('', 'setTimeout(() => process.exit(0), 1)'),
};
/** It runs beside the plugin that exits, so that the start takes no longer than it must. */
const ARGS = ['start', '--plugins', 'config,process,host-plugins,quitter'];

async function reportOf({ base }: RunningStackwarden) {
  const answer = (await (await fetch(`${base}/host/plugins`)).json()) as { plugins: { name: string; state: string }[] };
  return answer.plugins.find(({ name }) => name === 'quitter');
}

for (const [when, text] of Object.entries(sources)) {
  t.test(`process.exit ${when}`, async t => {
    const configDir = testDir(t, { plugins: { quitter: { 'index.mjs': text } } });
    const port = await writeConfig(configDir);
    const first = spawnStackwarden(configDir, { args: ARGS });
    t.equal((await first.exited).code, 70, 'never a success');
    t.match(first.stderr(), /the plugin quitter ended the process with process\.exit\(\d\)/);

    const second = await startStackwarden(configDir, port, { args: ARGS });
    t.teardown(async () => {
      second.child.kill('SIGTERM');
      await second.exited;
    });
    t.match(await reportOf(second), {
      state: 'failed',
      reason: /it ended Stackwarden with process\.exit\(\d\) at .*loaded again when its files have changed/,
    });
    await writeFile(path.join(configDir, 'plugins/quitter/index.mjs'), source('', ''));
    await until(async () => (await reportOf(second))?.state === 'ready', { what: 'the mended plugin' });
  });
}
