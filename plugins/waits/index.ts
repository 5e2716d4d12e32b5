// Adds the waits of a service's template to its start at boot: for mounts, and for answers of other services.
import { definePlugin, type Host, type NamedBlock } from '#core';
import type { LaunchPlan } from '../process/contract.ts';
import type { ServiceTemplate } from '../services/contract.ts';

type Wait = NonNullable<ServiceTemplate['waits']>[number];

export default definePlugin({
  name: 'waits',
  host: '^1',
  after: ['process', 'services'],

  setup(host) {
    host.tap('process.prepare', plan => {
      // Only a start by the configuration waits, because a user who starts a service wants it at once.
      if (plan.trigger === 'boot' || plan.trigger === 'config') addWaits(host, plan);
      return plan;
    });
  },
});

function addWaits(host: Host, plan: LaunchPlan): void {
  const templates = host.find('service.templates');
  if (templates === undefined) return;
  const blocks = host.find('process.supervisor')?.blocks() ?? [];
  const enabled = blocks.filter(({ block }) => block.enabled === true);
  for (const wait of templates.get(plan.configKey)?.waits ?? []) {
    if (wait.kind === 'mounts') plan.waits.mounts.push(...enabled.flatMap(block => templates.mountOf(block) ?? []));
    else {
      const elsewhere = wait.address === undefined ? undefined : host.use('config.store').get(wait.address);
      plan.waits.urls.push(...buildUrls(wait, templates.linksOf(plan.block), enabled, elsewhere));
    }
  }
}

function buildUrls(
  { services, path, member, linked }: Extract<Wait, { kind: 'url' }>,
  links: readonly string[],
  enabled: readonly NamedBlock[],
  elsewhere: unknown,
): LaunchPlan['waits']['urls'] {
  const includesUnlinked = linked !== true || links.length === 0;
  return enabled
    .filter(({ configKey }) => services.includes(configKey) && (includesUnlinked || links.includes(configKey)))
    .map(other => `${addressIn(elsewhere) ?? `http://127.0.0.1:${other.block.port}`}${path}`)
    .map(url => (member === undefined ? url : { url, expected_json_path: member }));
}

/** The value as a base URL; undefined when it is no web address, such as a mere name. */
function addressIn(value: unknown): string | undefined {
  if (typeof value !== 'string' || !URL.canParse(value)) return undefined;
  const { protocol, href } = new URL(value);
  return ['http:', 'https:'].includes(protocol) ? href.replace(/\/$/, '') : undefined;
}
