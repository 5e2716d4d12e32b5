// Refuses names of plugins that there are not, before a host is made for them. It changes nothing.
import { findPluginFolders, pluginDirectories } from '../host/discover.ts';
import { noSuchPlugin } from '../host/plugin-names.ts';
import { configuredSettings } from './configured-settings.ts';

/** Throws an Error with the names that are probably meant, and how all are listed. */
export async function refuseUnknownPlugins(configDir: string, names: readonly string[] = []): Promise<void> {
  if (names.length === 0) return;
  const { dirs, override } = (await configuredSettings(configDir)).plugins;
  const folders = await findPluginFolders(pluginDirectories(configDir, dirs), override);
  const known = folders.map(({ name }) => name).sort();
  const faults = names.filter(name => !known.includes(name)).map(name => noSuchPlugin(name, known));
  if (faults.length > 0) throw new Error(`${faults.join('; ')}; \`stackwarden plugins\` lists all`);
}
