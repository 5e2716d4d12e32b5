// The web frontend as a managed process: it is started first, and only where its program is configured.
import type { NamedBlock } from '#core';

const FRONTEND_KEY = 'dumb_frontend';

export function isFrontend({ configKey }: NamedBlock): boolean {
  return configKey === FRONTEND_KEY;
}

/** Started at boot; the frontend only where its program is configured. */
export function isBootable(named: NamedBlock): boolean {
  const { command, enabled } = named.block;
  const hasCommand = Array.isArray(command) ? command.length > 0 : typeof command === 'string' && command !== '';
  return enabled === true && (!isFrontend(named) || hasCommand);
}
