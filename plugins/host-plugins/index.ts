// The route that lists every plugin that was found, with its state and what it registered, and the lists that plugins
// publish for clients.
import { z } from 'zod';
import { type ContributionList, definePlugin } from '#core';
import { functionSchema } from '#kit/function-schema';
import type { HostFact } from './contract.ts';
import { answerSchema, toWire } from './report.ts';

const factPoint = {
  schema: z.looseObject({ values: functionSchema }),
  answers: { values: z.array(z.string()) },
  immediate: ['values'],
};

export default definePlugin({
  name: 'host-plugins',
  host: '^1',

  setup(host) {
    const facts = host.point('host.fact', factPoint);
    host.route({
      method: 'GET',
      path: '/host/plugins',
      tag: 'host',
      summary: 'Every plugin found: its state, what it registered and its error counts; and lists that belong to flags',
      response: answerSchema,
      handle: () => ({ plugins: host.plugins().map(toWire), facts: listsOf(facts) }),
    });
  },
});

function listsOf(facts: ContributionList<HostFact>): Record<string, readonly string[]> {
  const lists: Record<string, readonly string[]> = {};
  for (const { key, value } of facts) {
    try {
      lists[key] = value.values();
    } catch {
      // The host has logged this fault of the contribution; the other lists are answered.
    }
  }
  return lists;
}
