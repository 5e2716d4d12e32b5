// `/health` for container runtimes: the status in one word, and the reasons for callers who are allowed to see them.
import { z } from 'zod';
import { definePlugin, Problem } from '#core';
import { functionSchema } from '#kit/function-schema';
import { Evaluations } from './evaluation.ts';
import { answerSchema, toWire } from './wire.ts';

export default definePlugin({
  name: 'health',
  host: '^1',

  setup(host) {
    const notes = host.point('health.note', {
      schema: z.looseObject({ text: functionSchema }),
      answers: { text: z.string().nullable() },
      immediate: ['text'],
    });
    const evaluations = new Evaluations(host, notes);
    host.route({
      method: 'GET',
      path: '/health',
      summary: 'Whether everything that should run is well; unhealthy is also a 200',
      access: 'public',
      response: answerSchema,
      handle({ trusted }) {
        try {
          return toWire(evaluations.current(), trusted);
        } catch (error) {
          host.log.error('the health check failed', error);
          throw new Problem(500, 'Failed to run health check. Please try again.', { cause: error });
        }
      },
    });
  },
});
