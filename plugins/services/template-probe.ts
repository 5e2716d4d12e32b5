// The health probe of a template: an address on the service's port, below the base path that its own file may set.
import type { Host } from '#core';
import { valueAt } from '#kit/value-at';
import type {} from '../config-files/contract.ts';
import type { ProcessProbe } from '../health-probe/contract.ts';
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
      // Without the file, as at the first start, the service answers at the root.
      const values = await host
        .find('config.files')
        ?.values(named)
        .catch(() => undefined);
      const base = valueAt(values, baseInFile.split('.'));
      const folders = typeof base === 'string' ? base.split('/').filter(Boolean).map(inPath) : [];
      const below = await ask({ ...address, port, path: ['', ...folders].join('/') + address.path });
      if (folders.length === 0 || below.status !== 'degraded') return below;
      // A base that was set while the service runs counts for it from its next start on.
      const atRoot = await ask({ ...address, port });
      return atRoot.status === 'healthy' ? atRoot : below;
    },
  };
}

/** The service writes the name, which may hold halves of characters; these cannot be encoded. */
function inPath(name: string): string {
  return encodeURIComponent(name.replaceAll(/\p{Cs}/gu, '\ufffd'));
}
