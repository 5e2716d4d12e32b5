// The notifications about automatic restarts.
import type { Events, Host } from '#core';
import type { NotificationEvent } from '../notifications/contract.ts';

type Notices = { readonly [Type in keyof Events]?: NotificationEvent<Events[Type]> };

const NOTICES: Notices = {
  'service.unhealthy': {
    severity: 'critical',
    order: 400,
    describe: ({ processName, reason, threshold }) => ({
      title: `${processName} is unhealthy`,
      body: reason,
      serviceName: processName,
      metadata: { unhealthy_threshold: threshold },
    }),
  },
  'service.auto_restart.attempt': {
    severity: 'warning',
    order: 600,
    describe: ({ processName, reason, attempt }) => ({
      title: `${processName} is being restarted`,
      body: `Attempt ${attempt}: ${reason}`,
      serviceName: processName,
    }),
  },
  'service.auto_restart.succeeded': {
    severity: 'success',
    order: 600,
    describe: ({ processName }) => ({
      title: `${processName} is healthy again`,
      body: 'The automatic restart has helped.',
      serviceName: processName,
    }),
  },
  'service.auto_restart.failed': {
    severity: 'critical',
    order: 600,
    describe: ({ processName, reason }) => ({
      title: `${processName} could not be restarted`,
      body: reason,
      serviceName: processName,
    }),
  },
  'service.auto_restart.suppressed': {
    severity: 'critical',
    order: 600,
    describe: ({ processName, reason }) => ({
      title: `${processName} is no longer restarted`,
      body: reason,
      serviceName: processName,
      metadata: { reason },
    }),
  },
};

export function contributeNotices(host: Host): void {
  for (const [type, notice] of Object.entries(NOTICES))
    host.contribute('notifications.event', type, notice as NotificationEvent);
}
