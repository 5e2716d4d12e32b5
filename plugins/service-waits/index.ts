// Adds the waits of a service's template to its start at boot: for mounts, and for other services to answer.
import { definePlugin, type NamedBlock } from '#core';
import type {} from '../process/contract.ts';
import type { ServiceTemplate } from '../service-templates/contract.ts';

type Wait = NonNullable<ServiceTemplate['waits']>[number];

export default definePlugin({
  name: 'service-waits',
  host: '^1',
  after: ['process', 'service-templates'],

  setup(host) {
    host.tap('process.prepare', plan => {
      // Only the boot waits; a service that somebody starts later is wanted at once.
      if (plan.trigger !== 'boot') return plan;
      const enabled = host
        .use('config.store')
        .blocks()
        .filter(({ block }) => block.enabled === true);
      const templates = host.find('service.templates');
      for (const wait of templates?.get(plan.configKey)?.waits ?? []) {
        if (wait.kind === 'mounts') plan.waits.mounts.push(...listMountPaths(enabled));
        else plan.waits.urls.push(...buildUrls(wait, templates?.linksOf(plan.block) ?? [], enabled));
      }
      return plan;
    });
  },
});

/** Mount points of the enabled services that provide mounts. */
function listMountPaths(enabled: readonly NamedBlock[]): string[] {
  return enabled.flatMap(({ configKey, block }) => {
    if (configKey === 'rclone') return [`${block.mount_dir}/${block.mount_name}`];
    const mounts = ['rclone', 'dfs', ''].includes(String(block.mount_type ?? ''));
    return configKey === 'decypharr' && mounts && typeof block.mount_path === 'string' ? [block.mount_path] : [];
  });
}

function buildUrls(
  { services, path, linked }: Extract<Wait, { kind: 'url' }>,
  links: readonly string[],
  enabled: readonly NamedBlock[],
): string[] {
  const includesUnlinked = linked !== true || links.length === 0;
  return enabled
    .filter(({ configKey }) => services.includes(configKey) && (includesUnlinked || links.includes(configKey)))
    .map(other => `http://127.0.0.1:${other.block.port}${path}`);
}
