// Finds the instance of a component that belongs to a core service.
import type { NamedBlock } from '#core';
import type { ServiceTemplate, ServiceTemplates } from '../services/contract.ts';

/** The instance whose `core_service` names the core; otherwise the one with the core's name. */
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
