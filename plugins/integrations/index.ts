// Runs integrations in the background: after either application has started, as soon as both answer, and again after a
// failure.
import { z } from 'zod';
import { definePlugin, type PointOptions } from '#core';
import { functionSchema } from '#kit/function-schema';
import type {} from '../process/contract.ts';
import { IntegrationRunner } from './runner.ts';

const kinds = z.array(z.string());

const integrationPoint: PointOptions = {
  schema: z.looseObject({ targets: kinds, providers: kinds, apply: functionSchema }),
  // Long enough for a restart of the target.
  deadlineMs: 900_000,
  // An application that does not answer is an expected failure: the runner retries and reports it.
  mayFail: true,
};

export default definePlugin({
  name: 'integrations',
  host: '^1',
  after: ['process'],
  config: zod =>
    zod.object({
      disabled: zod.array(zod.string()).default([]).describe('integrations that are not wanted, by name'),
      answer_seconds: zod.number().min(0).default(60).describe('how long both sides may take to answer'),
      retry_seconds: zod.number().min(0).default(15).describe('pause before a failed one is tried again'),
    }),

  setup(host, { disabled, answer_seconds: answerSeconds, retry_seconds: retrySeconds }) {
    const runner = new IntegrationRunner(host, host.point('service.integration', integrationPoint), {
      disabled,
      answerMs: answerSeconds * 1_000,
      retryMs: retrySeconds * 1_000,
    });
    host.tap('process.started', ({ processName }) => runner.started(processName));
  },
});
