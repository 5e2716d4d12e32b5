// What services of a known kind wait for at boot beyond what their blocks name: mounts, and answers of other services.
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
      // Whoever starts a service by hand wants it now.
      if (plan.trigger !== 'boot') return plan;
      const enabled = (host.find('process.supervisor')?.blocks() ?? []).filter(({ block }) => block.enabled === true);
      const templates = host.find('service.templates');
      for (const wait of templates?.get(plan.configKey)?.waits ?? []) {
        if (wait.kind === 'mounts') plan.waits.mounts.push(...mountPaths(enabled));
        else plan.waits.urls.push(...addresses(wait, templates?.linksOf(plan.block) ?? [], enabled));
      }
      return plan;
    });
  },
});

/** Where the enabled mount providers put their files. */
function mountPaths(enabled: readonly NamedBlock[]): string[] {
  return enabled.flatMap(({ configKey, block }) => {
    if (configKey === 'rclone') return [`${block.mount_dir}/${block.mount_name}`];
    const mounts = ['rclone', 'dfs', ''].includes(String(block.mount_type ?? ''));
    return configKey === 'decypharr' && mounts && typeof block.mount_path === 'string' ? [block.mount_path] : [];
  });
}

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
