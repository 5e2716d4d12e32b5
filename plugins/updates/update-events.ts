// The events of updates, and their notifications.
import type { Events, Host } from '#core';
import type { NotificationEvent } from '../notifications/contract.ts';
import type {} from './contract.ts';

type UpdateEvent = 'update.available' | 'update.succeeded' | 'update.failed';

const DESCRIPTIONS: Readonly<Record<UpdateEvent, string>> = {
  'update.available': 'A newer release of a service was found',
  'update.succeeded': 'An update was installed',
  'update.failed': 'A look for updates or an installation has failed',
};

const NOTICES: { readonly [Type in UpdateEvent]: NotificationEvent<Events[Type]> } = {
  'update.available': {
    severity: 'info',
    order: 700,
    describe: ({ processName, currentVersion, availableVersion, releaseUrl }) => ({
      title: `${processName} ${availableVersion} is available`,
      body: [
        currentVersion === null ? 'The installed version is not known.' : `${currentVersion} is installed.`,
        releaseUrl ?? '',
      ]
        .join(' ')
        .trim(),
      serviceName: processName,
      metadata: { current_version: currentVersion, available_version: availableVersion, release_url: releaseUrl },
    }),
  },
  'update.succeeded': {
    severity: 'success',
    order: 700,
    describe: ({ processName, previousVersion, currentVersion }) => ({
      title: `${processName} was updated to ${currentVersion}`,
      body: previousVersion === null ? 'Its former version is not known.' : `It was ${previousVersion} before.`,
      serviceName: processName,
      metadata: { previous_version: previousVersion, current_version: currentVersion },
    }),
  },
  'update.failed': {
    severity: 'critical',
    order: 700,
    describe: ({ processName, operation, reason }) => ({
      title:
        operation === 'check' ? `Updates of ${processName} cannot be looked for` : `${processName} was not updated`,
      body: reason,
      serviceName: processName,
      metadata: { operation },
    }),
  },
};

export function registerUpdateEvents(host: Host): void {
  for (const [type, description] of Object.entries(DESCRIPTIONS)) host.event(type as UpdateEvent, { description });
  for (const [type, notice] of Object.entries(NOTICES))
    host.contribute('notifications.event', type, notice as NotificationEvent);
}
