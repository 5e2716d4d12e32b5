// Request synchronisation: requests that users make on one request manager are replicated to others.
import path from 'node:path';
import { definePlugin } from '#core';
import { declareHostState } from '#kit/host-state';
import type {} from '../config-files/contract.ts';
import type {} from '../services/contract.ts';
import { Replication } from './replication.ts';
import { registerRoutes } from './routes.ts';
import { SECTION_PATH, STATE_FILE, syncSection } from './settings.ts';
import { StateFile } from './state-file.ts';

export default definePlugin({
  name: 'request-sync',
  host: '^1',
  after: ['config-files', 'services'],

  setup(host) {
    declareHostState(STATE_FILE);
    host.contribute('config.schema', 'request-sync', { path: SECTION_PATH, schema: syncSection });
    const file = new StateFile(path.join(host.paths.configDir, STATE_FILE), host.log);
    const replication = new Replication(host, file);
    registerRoutes(host, replication, file);
    host.tap('config.review', async ({ problems }) => void problems.push(...(await replication.obstacles())));
    host.tap('host.ready', () => replication.adjust());
    host.tap('config.changed', async ({ paths }) => {
      if (!replication.isConcerned(paths)) return;
      await replication.noteOptions();
      replication.adjust();
    });
    const stop = () => replication.stop();
    host.tap('host.stopping', stop);
    return stop;
  },
});
