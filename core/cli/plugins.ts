// `stackwarden plugins`: prints every plugin that is found, with its state. It changes nothing.
import { createHost } from '../host/host.ts';
import type { CommandLine } from './command-line.ts';

export async function listPlugins({ configDir, plugins }: CommandLine): Promise<number> {
  const host = await createHost({
    configDir,
    dryRun: true,
    ...(plugins === undefined ? {} : { plugins, knownPluginsOnly: true }),
  });
  for (const { name, state, reason, folder } of host.plugins()) {
    console.log([name.padEnd(20), state.padEnd(9), reason ?? folder].join(' '));
  }
  await host.stop();
  return 0;
}
