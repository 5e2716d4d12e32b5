// The line in the log about the plugins when all have been set up.
import type { PluginReport, PluginState } from '../contract/host.ts';

/** How many plugins that are left out are named; a short `dumb.plugins.enabled` leaves out a hundred. */
const MOST_NAMES = 10;

/** How many plugins are loaded, and which are not, apart from those that failed, which have lines of their own. */
export function loadedPlugins(reports: readonly Pick<PluginReport, 'name' | 'state'>[]): string {
  const names = (...states: readonly PluginState[]): string[] =>
    reports.filter(({ state }) => states.includes(state)).map(({ name }) => name);
  const loaded = `${names('ready').length} plugins are loaded`;
  const without = names('disabled', 'skipped');
  if (without.length === 0) return loaded;
  if (without.length <= MOST_NAMES) return `${loaded}, without ${without.join(', ')}`;
  return `${loaded}, without ${without.length} others; stackwarden plugins lists them`;
}
