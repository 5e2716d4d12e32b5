// Keeps whether the first-run wizard is completed. The answer comes from memory, so no state of the file prevents it.
import { z } from 'zod';
import { definePlugin } from '#core';

/** A flag that the environment sets keeps its value, whatever is saved. */
const statusAnswer = z.object({
  status: z.string(),
  overridden: z.array(z.string()).describe('paths that were saved, and that the environment overrides'),
  warnings: z.array(z.string()),
});
const section = z.looseObject({
  onboarding_completed: z.boolean().default(false).describe('whether the wizard was finished or skipped'),
});

export default definePlugin({
  name: 'onboarding',
  host: '^1',

  setup(host) {
    const store = host.use('config.store');
    host.contribute('config.schema', 'onboarding', { path: ['dumb'], schema: section });
    const setCompleted = async (completed: boolean, persist: boolean, actor: string) => {
      const updates = { dumb: { onboarding_completed: completed } };
      const { overridden, warnings } = await store.update({ updates, persist, actor });
      return { overridden: [...overridden], warnings: [...warnings] };
    };

    host.route({
      method: 'GET',
      path: '/config/onboarding-status',
      summary: 'Whether the first-run wizard is still to be shown',
      response: z.object({ needs_onboarding: z.boolean() }),
      // The wizard is not shown over an invalid configuration, which it would overwrite and only a user can mend.
      handle: () => ({ needs_onboarding: store.state === 'valid' && store.get('dumb.onboarding_completed') !== true }),
    });

    host.route({
      method: 'POST',
      path: '/config/onboarding-completed',
      summary: 'Marks the first-run wizard as done',
      response: statusAnswer,
      async handle({ identity }) {
        const actor = identity.username ?? 'api';
        try {
          return { status: 'Onboarding is completed', ...(await setCompleted(true, true, actor)) };
        } catch (error) {
          // A configuration that cannot be saved must not bring the wizard back at every page, so memory says
          // completed.
          await setCompleted(true, false, actor);
          throw error;
        }
      },
    });

    host.route({
      method: 'POST',
      path: '/config/reset-onboarding',
      summary: 'Shows the first-run wizard again; changes nothing else',
      response: statusAnswer,
      async handle({ identity }) {
        return { status: 'Onboarding is reset', ...(await setCompleted(false, true, identity.username ?? 'api')) };
      },
    });
  },
});
