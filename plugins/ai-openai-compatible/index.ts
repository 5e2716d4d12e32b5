// Any service that speaks the protocol of chat completions, at an address that the owner enters.
import { definePlugin } from '#core';
import type { AiProvider } from '../ai/contract.ts';

const compatible: AiProvider = {
  descriptor: {
    value: 'openai_compatible',
    aliases: ['compatible'],
    tokens: ['chat_compatible', 'compatible'],
    label: 'OpenAI-compatible',
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
    listModels: target => completions.models(target, 'models'),
    chat: (target, request) => completions.chat(target, request, 'chat/completions'),
  }),
};

export default definePlugin({
  name: 'ai-openai-compatible',
  host: '^1',
  needs: ['ai'],
  setup: host => host.contribute('ai.provider', 'ai-openai-compatible', compatible),
});
