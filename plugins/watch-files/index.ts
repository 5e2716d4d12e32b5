// Restarts services whose files change: `watch` in their blocks.
import { definePlugin } from '#core';
import type {} from '../process/contract.ts';
import { watchBlock } from './settings.ts';
import { Watches } from './watches.ts';

export default definePlugin({
  name: 'watch-files',
  host: '^1',
  needs: ['process'],

  setup(host) {
    host.contribute('config.block', 'watch', { schema: watchBlock });
    const watches = new Watches(host);
    host.tap('process.launched', plan => watches.begin(plan));
    host.tap('process.status', ({ status, adopted }) => {
      if (status === 'stopped') watches.prune();
      if (status === 'running' && adopted) return watches.beginAll();
    });
    host.tap('config.changed', () => {
      watches.prune();
      return watches.beginAll();
    });
    host.tap('host.ready', () => watches.beginAll());
    return () => watches.end();
  },
});
