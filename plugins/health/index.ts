// `/health` for container runtimes: one word, and for those who may know, the reasons.
import { definePlugin, Problem } from '#core';
import { evaluate } from './evaluation.ts';
import { answerSchema, toWire } from './wire.ts';

const LIMIT_MS = 8_000;

export default definePlugin({
  name: 'health',
  host: '^1',

  setup(host) {
    host.route({
      method: 'GET',
      path: '/health',
      summary: 'Whether everything that should run is well; unhealthy is also a 200',
      access: 'public',
      response: answerSchema,
      async handle({ trusted }) {
        const late = new Promise<never>((_resolve, reject) => {
          setTimeout(() => reject(new Problem(504, 'Healthcheck timed out')), LIMIT_MS).unref();
        });
        try {
          return toWire(await Promise.race([evaluate(host), late]), trusted);
        } catch (error) {
          if (error instanceof Problem) throw error;
          host.log.error('the health check failed', error);
          throw new Problem(500, 'Failed to run health check. Please try again.', { cause: error });
        }
      },
    });
  },
});
