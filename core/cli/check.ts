// `stackwarden check`: prints each problem of the configuration and the plugins on one line. It changes nothing.
import { existsSync, readdirSync } from 'node:fs';
import { createHost } from '../host/host.ts';
import { refuseUnknownPlugins } from './known-plugins.ts';
import type { PluginLook } from './plugins.ts';

/** What a configuration directory may hold before its first start. */
const OWN_NAMES = new Set([
  '.env',
  'data',
  'jobs',
  'log',
  'plugins',
  'services',
  'supervisor',
  'templates',
  'users.json',
]);

/** Resolves with 1 when there is a problem. */
export async function check({ configDir, plugins, output }: PluginLook): Promise<number> {
  if (!existsSync(configDir)) throw new Error(`there is no directory ${configDir}; name another with --config-dir`);
  await refuseUnknownPlugins(configDir, plugins);
  const host = await createHost({
    configDir,
    dryRun: true,
    ...(plugins === undefined ? {} : { plugins }),
  });
  const { problems, notes } = await host.reviewConfig();
  const isNew = !existsSync(host.configFile);
  const found = [
    ...(isNew && isForeign(configDir)
      ? [`${configDir} holds other files and no configuration; name the directory with --config-dir`]
      : []),
    ...problems,
    ...host.plugins().flatMap(({ name, state, reason }) => (state === 'failed' ? [`plugin ${name}: ${reason}`] : [])),
  ];
  await host.stop();
  for (const problem of found) output.note(problem.replaceAll('\n', ' '));
  for (const note of notes) output.line(`note: ${note}`.replaceAll('\n', ' '));
  if (found.length > 0) return 1;
  output.line(
    `${host.configFile}${isNew ? ' (which the first start writes)' : ''} and ${host.plugins().length} plugins are fine`,
  );
  return 0;
}

/** Whether a directory holds something, but nothing that belongs to Stackwarden. */
function isForeign(directory: string): boolean {
  const names = readdirSync(directory);
  return names.length > 0 && !names.some(name => OWN_NAMES.has(name));
}
