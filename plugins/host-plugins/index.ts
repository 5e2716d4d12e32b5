// The route that lists every plugin that was found, with its state and what it registered.
import { definePlugin } from '#core';
import { answerSchema, toWire } from './report.ts';

export default definePlugin({
  name: 'host-plugins',
  host: '^1',

  setup(host) {
    host.route({
      method: 'GET',
      path: '/host/plugins',
      tag: 'host',
      summary: 'Every plugin found: its state, what it registered and its error counts',
      response: answerSchema,
      handle: () => ({ plugins: host.plugins().map(toWire) }),
    });
  },
});
