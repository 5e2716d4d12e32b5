// A host with a few of the product's plugins and with plugins of a test's own, written to a folder as a third party's.
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { testDir } from './directory.ts';
import { pluginsDir, startHost, type TestHost } from './host.ts';
import { until } from './until.ts';

export interface OwnPlugin {
  /** Text of the body of `setup (host, config)`. */
  readonly setup: string;
  /** Text of other members, such as `needs: ['process'],`. */
  readonly more?: string;
}

/** `shipped` are loaded beside them. */
export async function startWithPlugins(
  t: Parameters<typeof testDir>[0],
  own: Readonly<Record<string, string | OwnPlugin>>,
  { shipped = ['config'], config = {} }: { shipped?: readonly string[]; config?: Record<string, unknown> } = {},
): Promise<TestHost> {
  const folders = Object.entries(own).map(([name, plugin]) => {
    const { setup, more = '' } = typeof plugin === 'string' ? { setup: plugin } : plugin;
    return [
      name,
      { 'index.js': `export default { name: '${name}', host: '^1', ${more} async setup (host, config) { ${setup} } }` },
    ];
  });
  const app = await startHost({
    config,
    pluginDirs: [pluginsDir, testDir(t, Object.fromEntries(folders))],
    plugins: [...shipped, ...Object.keys(own)],
  });
  t.teardown(() => app.stop());
  return app;
}

let marks = 0;

/** All that the host's own log says so far. Lines are written in batches, so one more is waited for, which is left out. */
export async function ownLog(app: TestHost): Promise<string> {
  const isOver = await Promise.race([app.host.stopped.then(() => true), nextTurn(false)]);
  if (isOver) return writtenLog(app);
  marks += 1;
  const mark = `test: mark ${marks}`;
  app.host.log.warn(mark);
  const text = await until(
    async () => {
      const written = await writtenLog(app);
      return written.includes(mark) ? written : undefined;
    },
    { what: 'the last line of the log' },
  );
  return text
    .split('\n')
    .filter(line => !line.includes('test: mark '))
    .join('\n');
}

async function writtenLog({ configDir }: TestHost): Promise<string> {
  const directory = path.join(configDir, 'log');
  const files = (await readdir(directory)).filter(name => name.endsWith('.log')).sort();
  return (await Promise.all(files.map(name => readFile(path.join(directory, name), 'utf8')))).join('');
}
