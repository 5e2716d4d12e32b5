// Whether the first-run wizard is done: a flag that is answered from memory in every state.
import { z } from 'zod';
import { definePlugin } from '#core';

const section = z.looseObject({ onboarding_completed: z.boolean().default(false) });
const doneAnswer = z.object({ status: z.string() });

export default definePlugin({
  name: 'onboarding',
  host: '^1',

  setup(host) {
    const store = host.use('config.store');
    host.contribute('config.schema', 'onboarding', { path: ['dumb'], schema: section });
    const save = (completed: boolean, persist: boolean, actor: string) =>
      store.update({ updates: { dumb: { onboarding_completed: completed } }, persist, actor });

    host.route({
      method: 'GET',
      path: '/config/onboarding-status',
      summary: 'Whether the first-run wizard is still to be shown',
      response: z.object({ needs_onboarding: z.boolean() }),
      // A wizard would write over a configuration that only a person can mend.
      handle: () => ({ needs_onboarding: store.state === 'valid' && store.get('dumb.onboarding_completed') !== true }),
    });

    host.route({
      method: 'POST',
      path: '/config/onboarding-completed',
      summary: 'Marks the first-run wizard as done',
      response: doneAnswer,
      async handle({ identity }) {
        const actor = identity.username ?? 'api';
        try {
          await save(true, true, actor);
        } catch (error) {
          // In memory it is done all the same, so that the wizard does not begin again and again.
          await save(true, false, actor);
          throw error;
        }
        return { status: 'Onboarding is completed' };
      },
    });

    host.route({
      method: 'POST',
      path: '/config/reset-onboarding',
      summary: 'Shows the first-run wizard again; changes nothing else',
      response: doneAnswer,
      async handle({ identity }) {
        await save(false, true, identity.username ?? 'api');
        return { status: 'Onboarding is reset' };
      },
    });
  },
});
