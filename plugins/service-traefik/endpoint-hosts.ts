// The hosts that Traefik's admin console may use for a sign-on: those of enabled portals. Hosts are added, never
// removed.
import { z } from 'zod';
import type { NamedBlock } from '#core';
import type { ServiceTemplate } from '../services/contract.ts';

const LOCAL = '127.0.0.1';

const factsSchema = z.lazy(() =>
  z.object({
    endpointHosts: z
      .object({ variable: z.string(), of: z.array(z.object({ key: z.string(), option: z.string() })) })
      .optional()
      .describe('the variable with the hosts, and the options of other services that name one'),
  }),
);

/** The variable with its wanted value; undefined when it has that already. */
export function endpointHosts(
  { block }: NamedBlock,
  { facts }: ServiceTemplate,
  blocks: readonly NamedBlock[],
): Record<string, string> | undefined {
  const { endpointHosts: wanted } = factsSchema.parse(facts ?? {});
  if (wanted === undefined) return undefined;
  const named = wanted.of.flatMap(({ key, option }) =>
    blocks
      .filter(({ configKey, block: other }) => configKey === key && other.enabled === true)
      .flatMap(({ block: other }) => hostIn(other[option])),
  );
  if (named.length === 0) return undefined;
  const { [wanted.variable]: present } = (block.env ?? {}) as Record<string, unknown>;
  const known = String(present ?? '')
    .split(',')
    .map(host => host.trim())
    .filter(host => host !== '');
  const all = [...new Set([...known, ...named, LOCAL])];
  return all.every(host => known.includes(host)) ? undefined : { [wanted.variable]: all.join(',') };
}

function hostIn(address: unknown): string[] {
  return typeof address === 'string' && URL.canParse(address) ? [new URL(address).hostname] : [];
}
