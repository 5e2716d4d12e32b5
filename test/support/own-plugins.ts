// Starts a host with some of the product's plugins and with a test's own plugins, in a folder as of a third party.
import { testDir } from './directory.ts';
import { pluginsDir, startHost, type TestHost } from './host.ts';
import { ownLog as ownLogLines } from './own-log.ts';

export interface OwnPlugin {
  /** The text of the body of `setup (host, config)`. */
  readonly setup: string;
  /** The text of other members, such as `needs: ['process'],`. */
  readonly more?: string;
}

/** `shipped` are the plugins of the product that are loaded too. */
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

/** The text of the host's own log so far. */
export async function ownLog(app: TestHost): Promise<string> {
  return (await ownLogLines(app)).map(line => `${line}\n`).join('');
}
