// LiteLLM: a proxy in front of models of many vendors.
import { definePlugin } from '#core';
import type { AiProvider } from '../ai/contract.ts';

const litellm: AiProvider = {
  descriptor: {
    value: 'litellm',
    tokens: ['proxy_gateway'],
    label: 'LiteLLM',
    promptBudgetChars: 400_000,
    locality: 'mixed',
    endpoint: { mode: 'custom' },
    key: 'optional',
    temperature: true,
    optionsSchema: {
      type: 'object',
      properties: { max_tokens: { type: 'integer', minimum: 1 } },
      additionalProperties: false,
    },
  },
  create: ({ completions }) => ({
    listModels: target => completions.models(target, 'models', { source: true }),
    chat: (target, request) => completions.chat(target, request, 'chat/completions'),
  }),
};

export default definePlugin({
  name: 'ai-litellm',
  host: '^1',
  needs: ['ai'],
  setup: host => host.contribute('ai.provider', 'ai-litellm', litellm),
});
