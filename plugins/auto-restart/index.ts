// Auto-restart: services that end or stay unhealthy are brought back, within limits that `dumb.auto_restart` sets.
import { definePlugin } from '#core';
import { AutoRestart } from './auto-restart.ts';
import type {} from './contract.ts';
import { autoRestartSection, readSettings } from './settings.ts';

export default definePlugin({
  name: 'auto-restart',
  host: '^1',
  needs: ['process'],

  setup(host) {
    // Read anew at each look, not handed to the set-up: a change must not lose what was counted.
    host.contribute('config.schema', 'auto-restart', { path: ['dumb', 'auto_restart'], schema: autoRestartSection });
    host.event('service.unhealthy', { description: 'A watched process was unhealthy as often as its threshold says' });
    host.event('service.auto_restart.attempt', { description: 'A process is about to be restarted' });
    host.event('service.auto_restart.succeeded', { description: 'A process is healthy again after a restart' });
    host.event('service.auto_restart.failed', { description: 'A restarted process did not start or recover' });
    host.event('service.auto_restart.suppressed', {
      description: 'The limit of restarts within the window is reached',
    });

    const autoRestart = new AutoRestart(host, () => readSettings(host.use('config.store')));
    host.provide('process.restarts', autoRestart);
    host.tap('process.exited', (process, exit) => autoRestart.exited(process, exit));
  },
});
