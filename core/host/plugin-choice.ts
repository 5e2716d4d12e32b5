// Which of the plugins that were found are to be loaded, by the configuration or the command line.

export interface PluginChoice {
  /** Folder names; all folders when empty. */
  readonly enabled: readonly string[];
  readonly disabled: readonly string[];
  readonly override: readonly string[];
}

export function isChosen(name: string, { enabled, disabled }: Pick<PluginChoice, 'enabled' | 'disabled'>): boolean {
  return !disabled.includes(name) && (enabled.length === 0 || enabled.includes(name));
}
