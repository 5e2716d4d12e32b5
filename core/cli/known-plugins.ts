// Refuses names of plugins that do not exist, before a host is created. It changes nothing.
import { findPluginFolders, pluginDirectories } from '../host/discover.ts';
import { noSuchPlugin } from '../host/plugin-names.ts';
import { configuredSettings } from './configured-settings.ts';

/** Rejects with an Error that has the names which are probably meant, and says how all are listed. */
export async function refuseUnknownPlugins(configDir: string, names: readonly string[] = []): Promise<void> {
  if (names.length === 0) return;
  const { dirs, override } = (await configuredSettings(configDir)).plugins;
  const folders = await findPluginFolders(pluginDirectories(configDir, dirs), override);
  const known = folders.map(({ name }) => name).sort();
  const faults = names.filter(name => !known.includes(name)).map(name => noSuchPlugin(name, known));
  if (faults.length > 0) throw new Error(`${faults.join('; ')}; \`stackwarden plugins\` lists all`);
}
