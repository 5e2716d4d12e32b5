// The newest events of the host, for clients that poll for those since their last request.
import { z } from 'zod';
import { definePlugin } from '#core';
import { queryInteger } from '#kit/query-values';
import { EventRing } from './event-ring.ts';

const MAX_EVENTS = 1_000;

export default definePlugin({
  name: 'host-events',
  host: '^1',

  setup(host) {
    const ring = new EventRing(MAX_EVENTS, Date.now());
    host.on('*', event => ring.add(event));
    host.route({
      method: 'GET',
      path: '/host/events',
      tag: 'host',
      summary: `The newest events, at most ${MAX_EVENTS}, the oldest first`,
      query: z.object({ after: queryInteger({ min: 0 }).optional().describe('id that was answered last') }),
      response: z.object({
        events: z.array(
          z.object({
            id: z.number().describe('only grows, also over restarts of the host unless its clock was set back'),
            type: z.string(),
            plugin: z.string(),
            at: z.number().describe('Unix seconds'),
            data: z.unknown().describe('an object for every type of the product'),
          }),
        ),
        last: z.number().describe('for the next request'),
      }),
      handle: ({ query }) => ring.after(query.after ?? 0),
    });
  },
});
