// Groups of services: `groups` in their blocks, and routes that start, stop and restart all members of one.
import { z } from 'zod';
import { definePlugin } from '#core';
import { MAX_NAME_LENGTH, PRINTABLE, PRINTABLE_WORDS } from '#kit/printable';
import type {} from '../process/contract.ts';
import { Groups } from './groups.ts';

const group = z.string().min(1);
const newGroup = z.string().max(MAX_NAME_LENGTH).regex(PRINTABLE, PRINTABLE_WORDS);
/** Without defaults, because an editor in a browser would write them into the block. */
const groupsBlock = z.looseObject({
  groups: z
    .union([newGroup, z.array(newGroup)])
    .optional()
    .meta({ live: true, fallback: true })
    .describe('names of groups that are started, stopped and restarted as one'),
});

const body = z.object({ group });
const response = z.object({
  group,
  results: z.array(
    z.object({
      process_name: z.string(),
      status: z
        .string()
        .describe('started, already-running, waiting, stopped, not-running, already-stopping or failed'),
      error: z.string().optional().describe('why it failed'),
    }),
  ),
});
/** Recorded as the user of a request when authentication is off. */
const ANONYMOUS_USER = 'user';

export default definePlugin({
  name: 'groups',
  host: '^1',
  needs: ['process'],

  setup(host) {
    host.contribute('config.block', 'groups', { schema: groupsBlock });
    const groups = new Groups(host);
    host.route({
      method: 'GET',
      path: '/process/groups',
      summary: 'The groups of services with their members',
      response: z.object({ groups: z.array(z.object({ name: group, process_names: z.array(z.string()) })) }),
      handle: () => ({ groups: [...groups.all()].map(([name, names]) => ({ name, process_names: [...names] })) }),
    });
    const actions = [
      ['start', 'Starts every service of a group, each after those that it needs'],
      ['stop', 'Stops every service of a group, each before those that it needs'],
      ['restart', 'Stops every service of a group, and starts it again'],
    ] as const;
    for (const [action, summary] of actions)
      host.route({
        method: 'POST',
        path: `/process/${action}-group`,
        summary,
        body,
        response,
        async handle({ body: { group: name }, identity }) {
          const results = await groups[action](name, identity.username ?? ANONYMOUS_USER);
          return { group: name, results: [...results] };
        },
      });
  },
});
