// Open WebUI, a gateway to local models and models of vendors, over its own API below `/api`.
import { definePlugin } from '#core';
import type { AiProvider } from '../ai/contract.ts';

const openWebui: AiProvider = {
  descriptor: {
    value: 'open_webui',
    tokens: ['webui_gateway'],
    label: 'Open WebUI',
    promptBudgetChars: 60_000,
    locality: 'mixed',
    endpoint: { mode: 'custom', normalize: withApi },
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

function withApi(url: URL): URL {
  if (!url.pathname.endsWith('/api')) url.pathname = `${url.pathname.replace(/\/$/, '')}/api`;
  return url;
}

export default definePlugin({
  name: 'ai-open-webui',
  host: '^1',
  needs: ['ai'],
  setup: host => host.contribute('ai.provider', 'ai-open-webui', openWebui),
});
