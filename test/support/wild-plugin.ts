// Runs Stackwarden in a process of its own, with a third party's plugin that does what no plugin should do.
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { testDir } from './directory.ts';
import { spawnStackwarden, startStackwarden, writeConfig } from './stackwarden.ts';

/** `source` is the plugin, in {config_dir}/plugins; `others` are further plugins beside it. */
export async function startWithWild(
  t: Pick<typeof import('tap')['t'], 'testdir' | 'teardown'>,
  source: string,
  {
    answers = true,
    env = {},
    others = {},
  }: { answers?: boolean; env?: Record<string, string>; others?: Record<string, string> } = {},
) {
  const configDir = testDir(t, {});
  const port = await writeConfig(configDir);
  const own = Object.entries({ ...others, wild: source });
  for (const [name, text] of own) {
    await mkdir(path.join(configDir, 'plugins', name), { recursive: true });
    await writeFile(path.join(configDir, 'plugins', name, 'index.js'), text);
  }
  const options = { args: ['start', '--plugins', [...own.map(([name]) => name), 'host-plugins'].join()], env };
  const service = answers ? await startStackwarden(configDir, port, options) : spawnStackwarden(configDir, options);
  t.teardown(async () => {
    service.child.kill('SIGTERM');
    await service.exited;
  });
  return service;
}
