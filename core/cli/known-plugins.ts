// Refuses names of plugins that there are not, before a host is made for them. It changes nothing.
import { findPluginFolders, pluginDirectories } from '../host/discover.ts';
import { configuredSettings } from './configured-settings.ts';

/** Throws an Error with the names that there are. */
export async function refuseUnknownPlugins(configDir: string, names: readonly string[] = []): Promise<void> {
  if (names.length === 0) return;
  const { dirs, override } = (await configuredSettings(configDir)).plugins;
  const folders = await findPluginFolders(pluginDirectories(configDir, dirs), override);
  const known = folders.map(({ name }) => name).sort();
  const unknown = names.filter(name => !known.includes(name));
  if (unknown.length > 0)
    throw new Error(`there is no plugin ${unknown.join(', ')}; the plugins are ${known.join(', ')}`);
}
