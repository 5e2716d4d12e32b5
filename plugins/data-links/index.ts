// Moves the data of services to the common data directory if that is a mount, which outlives the container.
import path from 'node:path';
import { definePlugin, type Host } from '#core';
import { listedPath } from '#kit/mountinfo';
import { isBelow } from '#kit/path-below';
import type {} from '../process/contract.ts';
import type {} from '../services/contract.ts';
import { DataLinks } from './data-links.ts';

export default definePlugin({
  name: 'data-links',
  host: '^1',
  after: ['process', 'services'],

  setup(host) {
    const links = new DataLinks(host.log);

    host.tap(
      'process.prepare',
      async plan => {
        const dataLinks = host.find('service.templates')?.get(plan.configKey)?.dataLinks ?? [];
        const { data_root: root, puid, pgid } = host.use('config.store').root();
        const { config_dir: directory } = plan.block;
        if (dataLinks.length === 0 || typeof root !== 'string' || typeof directory !== 'string') return plan;
        const owner = plan.user ?? (process.getuid?.() === 0 ? { uid: Number(puid), gid: Number(pgid) } : null);
        for (const { path: folder, under } of dataLinks) {
          if (!overlaps(directory, folder)) continue;
          const target = { root: listedPath(root), subdirectory: under, owner, isInUse: () => isInUse(host, folder) };
          await links.ensure(folder, target, plan.signal);
        }
        return plan;
      },
      // The links must be there before other taps create files in the folders.
      { stage: -20 },
    );
  },
});

/** Whether any running process has its `config_dir` in, at or above the folder. */
function isInUse(host: Host, folder: string): boolean {
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
  return path.relative(one, other) === '' || isBelow(one, other) || isBelow(other, one);
}
