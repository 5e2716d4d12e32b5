// Services whose updates cannot be installed because no template says how, also if they name a repository: that alone
// does not say which file of a release the program is, or how it is built. A block that asks for them is warned of.
import type { Host, NamedBlock } from '#core';
import { ConfigWarnings } from '#kit/config-warnings';
import { findBlocks } from '#kit/named-blocks';
import type {} from '../services/contract.ts';
import { autoUpdate } from './auto-update.ts';

/** Reports such blocks in a save, in a review, and once in the log. */
export function tellUnsupported(host: Host): void {
  const warnings = new ConfigWarnings(host, root =>
    findBlocks(root)
      .filter(named => !named.isHost && named.block.enabled === true && autoUpdate(named.block).enabled)
      .filter(named => host.find('service.templates') !== undefined && !isDescribed(host, named))
      .map(named => `${named.path.join('.')}: ${unsupportedSentence(host, named)}`),
  );
  host.tap('config.check', candidate => warnings.check(candidate));
  host.tap('config.review', review => warnings.review(review));
  host.tap('host.ready', () => warnings.tell());
  host.tap('config.changed', () => warnings.tell());
}

export function unsupportedSentence(host: Host, named: NamedBlock): string {
  const { processName, configKey } = named;
  const why = isDescribed(host, named) ? '' : `, because no template says how; give ${configKey} one with \`install\``;
  return `Updates of ${processName} cannot be installed from here${why}`;
}

function isDescribed(host: Host, { configKey }: NamedBlock): boolean {
  return host.find('service.templates')?.get(configKey)?.install !== undefined;
}
