// Keeps what services store in the common data directory, where that is a mount: a container's own folders go with it.
import path from 'node:path';
import { definePlugin, type Host } from '#core';
import type {} from '../process/contract.ts';
import type {} from '../services/contract.ts';
import { DataLinks } from './data-links.ts';

export default definePlugin({
  name: 'data-links',
  host: '^1',
  after: ['process', 'services'],

  setup(host) {
    const links = new DataLinks(host.log);

    // Before anything is made in the folders.
    host.tap(
      'process.prepare',
      async plan => {
        const known = host.find('service.templates')?.get(plan.configKey)?.dataLinks ?? [];
        const { data_root: root, puid, pgid } = host.use('config.store').root();
        const { config_dir: directory } = plan.block;
        if (known.length === 0 || typeof root !== 'string' || typeof directory !== 'string') return plan;
        const owner = process.getuid?.() === 0 ? { uid: Number(puid), gid: Number(pgid) } : null;
        for (const { path: folder, under } of known) {
          if (!overlaps(directory, folder)) continue;
          await links.ensure(folder, { root, under, owner, inUse: () => isUsed(host, folder) }, plan.signal);
        }
        return plan;
      },
      { stage: -20 },
    );
  },
});

/** By a program that runs, of whatever kind. */
function isUsed(host: Host, folder: string): boolean {
  const running = new Set(
    host
      .find('process.supervisor')
      ?.list()
      .flatMap(({ processName, pid }) => (pid === null ? [] : [processName])),
  );
  const blocks = host.use('config.store').blocks();
  return blocks.some(
    ({ processName, block: { config_dir: directory } }) =>
      running.has(processName) && typeof directory === 'string' && overlaps(directory, folder),
  );
}

function overlaps(one: string, other: string): boolean {
  return isBelow(one, other) || isBelow(other, one);
}

function isBelow(place: string, directory: string): boolean {
  const way = path.relative(directory, place);
  return !way.startsWith('..') && !path.isAbsolute(way);
}
