// The notifications about events of process control.
import type { Events, Host } from '#core';
import type { NotificationEvent } from '../notifications/contract.ts';

type Notices = { readonly [Type in keyof Events]?: NotificationEvent<Events[Type]> };

const NOTICES: Notices = {
  'dumb.startup.ready': {
    severity: 'success',
    order: 100,
    duringStartup: true,
    describe: () => ({ title: 'Startup complete', body: 'Every enabled service is ready.' }),
  },
  'dumb.startup.degraded': {
    severity: 'critical',
    order: 100,
    duringStartup: true,
    describe({ failures }) {
      const names = Object.keys(failures);
      const lines = Object.entries(failures).map(([name, reason]) => `${name}: ${reason}`);
      return {
        title: `Startup incomplete: ${names.length === 1 ? names[0] : `${names.length} services`} not ready`,
        body: lines.join('\n'),
        metadata: { failed_services: names, failures },
      };
    },
  },
  'service.start.failed': {
    severity: 'critical',
    order: 300,
    describe: ({ processName, reason }) => ({
      title: `${processName} could not be started`,
      body: reason,
      serviceName: processName,
    }),
  },
  'service.stopped.unexpectedly': {
    severity: 'critical',
    order: 500,
    describe: ({ processName, reason, exitCode, signal }) => ({
      title: `${processName} stopped unexpectedly`,
      body: reason,
      serviceName: processName,
      metadata: { exit_code: exitCode, signal },
    }),
  },
};

export function contributeNotices(host: Host): void {
  for (const [type, notice] of Object.entries(NOTICES))
    host.contribute('notifications.event', type, notice as NotificationEvent);
}
