// The variables that follow from the components of a Riven backend: the keys of its providers, and the path of its
// mount.
import { z } from 'zod';
import type { NamedBlock } from '#core';
import type { LaunchPlan } from '../process/contract.ts';
import type { ServiceTemplate, ServiceTemplates } from '../services/contract.ts';

const factsSchema = z.lazy(() =>
  z.object({
    mountVariables: z.array(z.string()).default([]).describe('each holds the place where its files are mounted'),
    ownMount: z
      .object({ path: z.string(), variables: z.array(z.string()) })
      .optional()
      .describe('of releases that mount their files themselves, which need no component for it'),
  }),
);

export interface Backend {
  readonly plan: LaunchPlan;
  readonly backend: NamedBlock;
  readonly template: ServiceTemplate;
  readonly templates: ServiceTemplates;
  readonly blocks: readonly NamedBlock[];
}

/** Variables that the user has set stay as they are. */
export function setVariables({ plan, backend, template, templates, blocks }: Backend): void {
  const { configKey } = backend;
  const { mountVariables, ownMount } = factsSchema.parse(template.facts ?? {});
  const attached = blocks.filter(({ block }) => block.enabled === true && templates.linksOf(block).includes(configKey));
  setKeys(plan, template, attached);
  const [mount] = attached.flatMap(component => templates.mountOf(component) ?? []);
  const needed = templates.coreNeeds(template, backend.block);
  const mountsItself = template.relations?.core?.dropped?.every(key => !needed.includes(key)) === true;
  if (ownMount !== undefined && mountsItself) {
    const own = (backend.block.env ?? {}) as Readonly<Record<string, unknown>>;
    for (const name of ownMount.variables) if (!Object.hasOwn(own, name)) plan.env[name] = ownMount.path;
  }
  if (mount === undefined) return;
  for (const name of mountVariables) plan.env[name] ??= `${mount}/__all__`;
  // A start by a user does not wait for the mount.
  if (!mountsItself && ['boot', 'config'].includes(plan.trigger)) plan.waits.mounts.push(mount);
}

/** Sets the variables for the keys of the providers that the attached components use. */
function setKeys(plan: LaunchPlan, { onboarding }: ServiceTemplate, attached: readonly NamedBlock[]): void {
  const target = onboarding?.debridKey;
  const variables = target !== undefined && 'variables' in target ? (target.variables ?? {}) : {};
  for (const { block } of attached) {
    const provider = String(block.key_type ?? '')
      .toLowerCase()
      .replaceAll(/[^a-z0-9]/g, '');
    const variable = variables[provider];
    if (variable !== undefined && typeof block.api_key === 'string' && block.api_key !== '')
      plan.env[variable] ??= block.api_key;
  }
}
