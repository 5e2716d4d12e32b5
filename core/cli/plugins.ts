// `stackwarden plugins`: prints every plugin that was found, with its state. It changes nothing.
import { existsSync } from 'node:fs';
import type { CommandOutput } from '../contract/command.ts';
import { createHost } from '../host/host.ts';
import { refuseUnknownPlugins } from './known-plugins.ts';

export interface PluginScope {
  readonly configDir: string;
  /** The plugins to load; undefined for all. */
  readonly plugins: readonly string[] | undefined;
}

export interface PluginLook extends PluginScope {
  readonly output: CommandOutput;
}

export async function listPlugins({ configDir, plugins, output }: PluginLook): Promise<number> {
  await refuseUnknownPlugins(configDir, plugins);
  if (!existsSync(configDir))
    output.note(
      `there is no directory ${configDir}, whose own plugins would be listed too; name another with --config-dir`,
    );
  const host = await createHost({
    configDir,
    dryRun: true,
    ...(plugins === undefined ? {} : { plugins }),
  });
  const found = host.plugins();
  await host.stop();
  for (const { name, state, reason, folder } of found) {
    const row = [name.padEnd(20), state.padEnd(9), reason ?? folder].join(' ');
    output.line(row.replaceAll('\n', ' '));
  }
  return 0;
}
