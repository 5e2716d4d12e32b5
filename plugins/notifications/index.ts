// Notifications: tells people what happens, through destinations that they choose.
import { definePlugin } from '#core';
import type {} from './contract.ts';
import { destinationPoint } from './points.ts';

export default definePlugin({
  name: 'notifications',
  host: '^1',

  setup(host) {
    host.point('notifications.destination', destinationPoint);
  },
});
