// Which instance of a component belongs to which core service.
import type { NamedBlock } from '#core';
import type { ServiceTemplate, ServiceTemplates } from '../services/contract.ts';

/** The one whose `core_service` names the core; without one, the one under the core's own name. */
export function attachedInstance(
  blocks: readonly NamedBlock[],
  core: ServiceTemplate,
  templates: ServiceTemplates,
): NamedBlock | undefined {
  return (
    blocks.find(({ block }) => templates.linksOf(block).includes(core.key)) ??
    blocks.find(({ key }) => key === core.displayName)
  );
}
