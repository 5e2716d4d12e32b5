// The health probe of a template: an address on the service's port, below the base path that its own file may set.
import type { Host, NamedBlock } from '#core';
import { valueAt } from '#kit/value-at';
import type {} from '../config-files/contract.ts';
import type { ProcessProbe } from '../health-probe/contract.ts';
import type { HealthReport } from '../process/contract.ts';
import type { ServiceTemplate } from './contract.ts';

export function probeOf({ key, health }: ServiceTemplate, host: Host): ProcessProbe | undefined {
  if (health === undefined) return undefined;
  const { baseInFile, ...address } = health;
  if (baseInFile === undefined) return { configKey: key, ...address };
  return {
    configKey: key,
    async check(named, ask) {
      const port = named.block[address.portKey];
      if (typeof port !== 'number') return undefined;
      const base = await baseOf(named, baseInFile, host);
      const below = await ask({ ...address, port, path: base + address.path });
      if (below.status !== 'degraded') return below;
      // A base that was set while the service runs counts for it from its next start on.
      const atRoot = base === '' ? below : await ask({ ...address, port });
      if (atRoot.status !== 'degraded') return atRoot.status === 'healthy' ? atRoot : below;
      const path = ownPlace(atRoot, address.path);
      const there = path === undefined ? below : await ask({ ...address, port, path });
      return there.status === 'healthy' ? there : below;
    },
  };
}

/** Empty without the file, as at the first start: the service answers at the root then. */
async function baseOf(named: NamedBlock, member: string, host: Host): Promise<string> {
  const values = await host
    .find('config.files')
    ?.values(named)
    .catch(() => undefined);
  const base = valueAt(values, member.split('.'));
  const folders = typeof base === 'string' ? base.split('/').filter(Boolean).map(inPath) : [];
  return ['', ...folders].join('/');
}

/** Until the next start, a base that was changed or taken out is the one to which the service leads at the root. */
function ownPlace({ details }: HealthReport, asked: string): string | undefined {
  const location = details?.location;
  return typeof location === 'string' && location.endsWith(asked) ? location : undefined;
}

/** The service writes the name, which may hold halves of characters; these cannot be encoded. */
function inPath(name: string): string {
  return encodeURIComponent(name.replaceAll(/\p{Cs}/gu, '\ufffd'));
}
