// Runs integrations in the background: after a start of either side, when both answer, and again when one failed.
import { definePlugin } from '#core';
import type {} from '../process/contract.ts';
import { IntegrationRunner } from './runner.ts';

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
    const runner = new IntegrationRunner(host, {
      disabled,
      answerMs: answerSeconds * 1_000,
      retryMs: retrySeconds * 1_000,
    });
    host.tap('process.started', ({ processName }) => runner.started(processName));
  },
});
