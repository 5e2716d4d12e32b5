// Line 19: a plugin that ends the process is named, and not loaded again until it changes.
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { testDir } from '../support/directory.ts';
import { type RunningStackwarden, spawnStackwarden, startStackwarden, writeConfig } from '../support/stackwarden.ts';
import { until } from '../support/until.ts';

const source = (name: string, atImport = '', inSetup = '') =>
  `${atImport}; export default { name: '${name}', host: '^1', setup (host) { ${inSetup} } }`;
const SOURCES: Record<string, string> = {
  importer: source('importer', 'process.exit(3)'),
  'set-up': source('set-up', '', 'process.exit(0)'),
  timer: source('timer', '', 'setTimeout(() => process.exit(0), 1)'),
};
const NAMES = Object.keys(SOURCES);
/** They run beside the plugins that exit, so that the start takes no longer than it must. */
const ARGS = ['start', '--plugins', ['config', 'process', 'host-plugins', ...NAMES].join()];

async function reportsOf({ base }: RunningStackwarden) {
  const answer = (await (await fetch(`${base}/host/plugins`)).json()) as { plugins: { name: string; state: string }[] };
  return answer.plugins.filter(({ name }) => NAMES.includes(name));
}

t.test('process.exit when it is imported, in its set-up and in a timer', async t => {
  const folders = Object.entries(SOURCES).map(([name, text]) => [name, { 'index.mjs': text }]);
  const configDir = testDir(t, { plugins: Object.fromEntries(folders) });
  const port = await writeConfig(configDir);
  const named: string[] = [];
  while (named.length < NAMES.length) {
    const host = spawnStackwarden(configDir, { args: ARGS });
    t.equal((await host.exited).code, 70, 'never a success');
    const told = /the plugin (\S+) ended the process with process\.exit\(\d\)/.exec(host.stderr());
    named.push(told?.[1] ?? host.stderr());
  }
  t.same(named.sort(), NAMES.sort(), 'each ends the host once');

  const last = await startStackwarden(configDir, port, { args: ARGS });
  t.teardown(async () => {
    last.child.kill('SIGTERM');
    await last.exited;
  });
  const reason = /it ended Stackwarden with process\.exit\(\d\) at .*loaded again when its files have changed/;
  for (const report of await reportsOf(last)) t.match(report, { state: 'failed', reason });
  for (const name of NAMES) await writeFile(path.join(configDir, `plugins/${name}/index.mjs`), source(name));
  await until(async () => (await reportsOf(last)).every(({ state }) => state === 'ready'), {
    what: 'the mended plugins',
  });
});
