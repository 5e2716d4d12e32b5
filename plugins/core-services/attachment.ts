// Which instance of a component belongs to which core service.
import type { NamedBlock } from '#core';
import type { ServiceTemplate } from '../service-templates/contract.ts';

/** The one whose `core_service` names the core; without one, the one under the core's own name. */
export function attachedInstance(blocks: readonly NamedBlock[], core: ServiceTemplate): NamedBlock | undefined {
  const names = [core.key, ...(core.aliases ?? [])];
  return (
    blocks.find(({ block }) => coresOf(block).some(name => names.includes(name))) ??
    blocks.find(({ key }) => key === core.displayName)
  );
}

/** `core_service` and `core_services`, each a text, a comma list or an array. */
function coresOf(block: NamedBlock['block']): string[] {
  return [block.core_service, block.core_services]
    .flatMap(value => (Array.isArray(value) ? value : [value]))
    .flatMap(value => (typeof value === 'string' ? value.split(',') : []))
    .map(name => name.trim().toLowerCase())
    .filter(name => name !== '');
}
