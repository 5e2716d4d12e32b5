// `stackwarden plugins`: prints every plugin that is found, with its state. It changes nothing.
import { existsSync } from 'node:fs';
import { createHost } from '../host/host.ts';
import { refuseUnknownPlugins } from './known-plugins.ts';

export interface PluginScope {
  readonly configDir: string;
  /** Only these; undefined means every plugin. */
  readonly plugins: readonly string[] | undefined;
}

export async function listPlugins({ configDir, plugins }: PluginScope): Promise<number> {
  await refuseUnknownPlugins(configDir, plugins);
  if (!existsSync(configDir))
    console.error(
      `there is no directory ${configDir}, whose own plugins would be listed too; name another with --config-dir`,
    );
  const host = await createHost({
    configDir,
    dryRun: true,
    ...(plugins === undefined ? {} : { plugins }),
  });
  for (const { name, state, reason, folder } of host.plugins()) {
    console.log([name.padEnd(20), state.padEnd(9), reason ?? folder].join(' '));
  }
  await host.stop();
  return 0;
}
