// Environment variables that give the web frontend the addresses of the API and of services' web interfaces.
import { z } from 'zod';
import type { ConfigStore } from '#core';
import { clientHost, urlHost } from '#kit/client-host';
import type { LaunchPlan } from '../process/contract.ts';

/** The frontend's facts in its template. */
export const frontendFacts = z.object({
  apiVariables: z.array(z.string()).default([]).describe('each holds the address of the API'),
  proxyVariables: z.array(z.string()).default([]).describe('each holds where the web interfaces of services are'),
  variables: z.record(z.string(), z.string()).default({}),
});

export type FrontendFacts = z.output<typeof frontendFacts>;

/** Variables that the block's own `env` sets are kept. */
export function addEnvironment(
  plan: LaunchPlan,
  { apiVariables, proxyVariables, variables }: FrontendFacts,
  config: ConfigStore,
  uiAddress: string | undefined,
): void {
  const host = urlHost(clientHost(config.get('dumb.api_service.host')));
  const api = `http://${host}:${config.get('dumb.api_service.port') ?? 8_000}`;
  const given: Record<string, string> = {
    ...variables,
    HOST: String(plan.block.host ?? '0.0.0.0'),
    PORT: String(plan.block.port ?? 3_005),
  };
  for (const name of apiVariables) given[name] = api;
  if (uiAddress !== undefined) for (const name of proxyVariables) given[name] = uiAddress;
  const own = (plan.block.env ?? {}) as Record<string, unknown>;
  for (const [name, value] of Object.entries(given)) if (!Object.hasOwn(own, name)) plan.env[name] = value;
}
