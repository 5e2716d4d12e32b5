// Installs the programs of services as their templates describe, from sources and with runtimes of other plugins.
import { z } from 'zod';
import { definePlugin } from '#core';
import { declareHostState } from '#kit/host-state';
import type {} from '../process/contract.ts';
import type {} from '../setup/contract.ts';
import { CACHES_DIRECTORY } from './cache-directory.ts';
import type {} from './contract.ts';
import { RECORDS_DIRECTORY } from './folder-records.ts';
import { registerInstallEvents } from './install-events.ts';
import { installInfo, installInfoOf } from './install-info.ts';
import { InstallService } from './install-service.ts';
import { Installations } from './installations.ts';
import { MIRRORS_PATH, mirrorsSchema } from './mirrors.ts';
import { MissingPrograms } from './missing-programs.ts';
import { runtimePoint, sourcePoint } from './points.ts';
import { ProgressBoard } from './progress-board.ts';
import { selectorKeys } from './selectors.ts';

/** Longer than the limit of one installation. */
const DEADLINE_MS = 10_800_000;

export default definePlugin({
  name: 'installs',
  host: '^1',
  needs: ['services', 'process', 'setup'],

  setup(host) {
    declareHostState(RECORDS_DIRECTORY);
    declareHostState(CACHES_DIRECTORY);
    // For every block, because the keys that select a release need not be options of its template.
    host.contribute('config.block', 'installs', { schema: selectorKeys, marksOnly: true });
    host.contribute('config.schema', 'mirrors', { path: MIRRORS_PATH, schema: mirrorsSchema });
    const sources = host.point('install.source', sourcePoint);
    const runtimes = host.point('install.runtime', runtimePoint);
    const board = new ProgressBoard();
    const installations = new Installations(host, { sources, runtimes });
    const missing = new MissingPrograms(host, installations, board);
    const service = new InstallService(installations, missing, board);
    registerInstallEvents(host);
    host.provide('installs', service, { deadlineMs: DEADLINE_MS, mayFail: true });

    const install = z.object({ phase: z.string(), text: z.string(), percent: z.number().nullable() });
    host.contribute('process.entry', 'installs', {
      schema: z.object({ install: install.nullable().describe('how far its installation is') }),
      members: ({ processName }) => ({ install: board.of(processName) ?? null }),
      revision: () => board.revision,
    });

    host.contribute('process.detail', 'installs', {
      schema: z.object({ install_info: installInfo.nullable().describe('what lies in its folder') }),
      members: async ({ processName }) => {
        const found = service.isSupported(processName) ? await service.installed(processName) : null;
        return { install_info: found && installInfoOf(found) };
      },
    });

    host.tap('service.install', ({ plan, block }) => missing.ensure(block, plan), { deadlineMs: DEADLINE_MS });
    host.tap('process.status', ({ processName, stoppedByUser }) => {
      if (stoppedByUser) missing.forget(processName);
    });
    return async () => {
      missing.end();
      await installations.end();
    };
  },
});
