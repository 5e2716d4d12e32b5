// What services of a known kind wait for at boot beyond what their blocks name: mounts, and answers of other services.
import { definePlugin, type NamedBlock } from '#core';
import type {} from '../process/contract.ts';
import type { ServiceTemplate } from '../services/contract.ts';

type Wait = NonNullable<ServiceTemplate['waits']>[number];

export default definePlugin({
  name: 'waits',
  host: '^1',
  after: ['process', 'services'],

  setup(host) {
    host.tap('process.prepare', plan => {
      // Whoever starts a service by hand wants it now.
      if (plan.trigger !== 'boot') return plan;
      const enabled = host
        .use('config.store')
        .blocks()
        .filter(({ block }) => block.enabled === true);
      const templates = host.find('service.templates');
      for (const wait of templates?.get(plan.configKey)?.waits ?? []) {
        if (wait.kind === 'mounts')
          plan.waits.mounts.push(...enabled.flatMap(block => templates?.mountOf(block) ?? []));
        else plan.waits.urls.push(...addresses(wait, templates?.linksOf(plan.block) ?? [], enabled));
      }
      return plan;
    });
  },
});

function addresses(
  { services, path, linked }: Extract<Wait, { kind: 'url' }>,
  links: readonly string[],
  enabled: readonly NamedBlock[],
): string[] {
  const all = linked !== true || links.length === 0;
  return enabled
    .filter(({ configKey }) => services.includes(configKey) && (all || links.includes(configKey)))
    .map(other => `http://127.0.0.1:${other.block.port}${path}`);
}
