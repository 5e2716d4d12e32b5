// Auto-restart: restarts services that end or stay unhealthy, within the limits of `dumb.auto_restart` and their
// `restart`.
import { definePlugin } from '#core';
import { AutoRestart } from './auto-restart.ts';
import type {} from './contract.ts';
import { restartMetrics } from './exported-metrics.ts';
import { contributeNotices } from './notices.ts';
import { autoRestartSection, readSettings, restartBlock } from './settings.ts';

export default definePlugin({
  name: 'auto-restart',
  host: '^1',
  needs: ['process'],

  setup(host) {
    // The section is read at each check instead of being the plugin's own, because a new set-up would lose the
    // counters.
    host.contribute('config.schema', 'auto-restart', { path: ['dumb', 'auto_restart'], schema: autoRestartSection });
    host.contribute('config.block', 'restart', { schema: restartBlock });
    host.event('service.unhealthy', { description: 'A watched process was unhealthy as often as its threshold says' });
    host.event('service.auto_restart.attempt', { description: 'A process is about to be restarted' });
    host.event('service.auto_restart.succeeded', { description: 'A process is healthy again after a restart' });
    host.event('service.auto_restart.failed', { description: 'A restarted process did not start or recover' });
    host.event('service.auto_restart.suppressed', {
      description: 'The limit of restarts within the window is reached',
    });

    contributeNotices(host);

    const autoRestart = new AutoRestart(host, () => readSettings(host.use('config.store')));
    host.tap('config.review', ({ problems }) => {
      const store = host.use('config.store');
      const unknown = readSettings(store).services.filter(entry => store.findBlock(entry.process_name) === undefined);
      for (const { process_name: name } of unknown)
        problems.push(`dumb.auto_restart.services: no service is called '${name}'; give its process_name`);
    });
    host.provide('process.restarts', autoRestart);
    host.contribute('prometheus.metrics', 'restarts', restartMetrics(host.use('process.supervisor'), autoRestart));
    host.tap('process.exited', (process, exit) => autoRestart.exited(process, exit));
  },
});
