// Anthropic over its Messages API.
import { definePlugin } from '#core';
import { isObject } from '#kit/plain-object';
import type { AiProvider, ChatResult, ModelEntry, ProviderTarget, RequestHeaders } from '../ai/contract.ts';
import { lifecycle } from './lifecycle.ts';

const API = 'https://api.anthropic.com/v1';
const SURFACE = 'messages';

const anthropic: AiProvider = {
  descriptor: {
    value: 'anthropic',
    aliases: ['claude'],
    tokens: ['native_c', 'native_c_alt'],
    label: 'Anthropic / Claude',
    promptBudgetChars: 400_000,
    locality: 'external',
    endpoint: { mode: 'managed', url: `${API}/messages`, apiBase: API },
    key: 'required',
    temperature: false,
    models: { sourceUrl: 'https://platform.claude.com/docs/en/about-claude/model-deprecations', lifecycle },
    compatibility: () => ({
      status: 'supported',
      api_surface: SURFACE,
      reason: 'requests in text use this surface',
    }),
  },
  create: ({ http }) => ({
    async listModels(target) {
      const answer = await http.getJson(target, 'models?limit=1000', headersOf(target));
      const { data } = isObject(answer) ? answer : {};
      const entries = (Array.isArray(data) ? data : []).filter(isObject).map(entryOf);
      return entries.sort((a, b) => (a.name.toLowerCase() < b.name.toLowerCase() ? -1 : 1));
    },
    async chat(target, { messages, maxOutputTokens }): Promise<ChatResult> {
      const system = messages.find(({ role }) => role === 'system');
      const rest = messages.filter(message => message !== system);
      const body = {
        model: target.model,
        max_tokens: maxOutputTokens,
        system: system?.content,
        messages: rest.map(({ role, content }) => ({ role: role === 'assistant' ? role : 'user', content })),
      };
      const answer = await http.postJson(target, 'messages', body, headersOf(target));
      const { content, stop_reason: reason, usage } = isObject(answer) ? answer : {};
      const parts = (Array.isArray(content) ? content : []).filter(isObject);
      return {
        text: parts.flatMap(({ type, text }) => (type === 'text' && typeof text === 'string' ? [text] : [])).join(''),
        finishReason: typeof reason === 'string' ? reason : undefined,
        rawUsage: usage,
      };
    },
  }),
};

function headersOf(target: ProviderTarget): RequestHeaders {
  return { key: target.auth({ header: 'x-api-key' }), more: { 'anthropic-version': '2023-06-01' } };
}

function entryOf(entry: Record<string, unknown>): ModelEntry {
  return {
    name: typeof entry.id === 'string' ? entry.id : '',
    source: 'external',
    source_detail: 'anthropic',
    display_name: entry.display_name,
    created_at: entry.created_at,
    max_input_tokens: entry.max_input_tokens,
    max_tokens: entry.max_tokens,
  };
}

export default definePlugin({
  name: 'ai-anthropic',
  host: '^1',
  needs: ['ai'],
  setup: host => host.contribute('ai.provider', 'ai-anthropic', anthropic),
});
