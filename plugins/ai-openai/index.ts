// OpenAI over its Responses API, with the request not to store answers.
import { definePlugin } from '#core';
import { isObject } from '#kit/plain-object';
import type { AiProvider, ChatMessage, ChatResult, ModelFit } from '../ai/contract.ts';
import { lifecycle } from './lifecycle.ts';

const SURFACE = 'responses';
const UNSUPPORTED: readonly (readonly [pattern: RegExp, reason: string])[] = [
  [/(?:^|[-_.])(?:embedding|moderation)(?:$|[-_.])/, 'it is a model for embeddings or moderation; choose one for text'],
  [
    /(?:^|[-_.])(?:audio|realtime|transcribe|tts|whisper)(?:$|[-_.])/,
    'it is a model for audio or realtime; choose one for text',
  ],
  [/(?:^|[-_.])(?:image|dall-e|sora|video)(?:$|[-_.])/, 'it makes images or video; choose a model for text'],
  [/computer-use|deep-research|search-preview/, 'it is a specialised tool; choose a model for text'],
];

const openai: AiProvider = {
  descriptor: {
    value: 'openai',
    tokens: ['native_b'],
    label: 'OpenAI',
    promptBudgetChars: 400_000,
    locality: 'external',
    endpoint: { mode: 'managed', url: 'https://api.openai.com/v1' },
    key: 'required',
    temperature: false,
    models: { sourceUrl: 'https://developers.openai.com/api/docs/deprecations', lifecycle },
    compatibility: fitOf,
  },
  create: ({ http }) => ({
    async listModels(target) {
      const answer = await http.getJson(target, 'models', { key: target.auth('bearer') });
      const { data } = isObject(answer) ? answer : {};
      const names = (Array.isArray(data) ? data : []).filter(isObject);
      return names
        .map(({ id, owned_by: owner }) => ({
          name: typeof id === 'string' ? id : '',
          source: 'external' as const,
          source_detail: 'openai',
          owned_by: typeof owner === 'string' ? owner : null,
        }))
        .sort((a, b) => (a.name.toLowerCase() < b.name.toLowerCase() ? -1 : 1));
    },
    async chat(target, { messages, maxOutputTokens }): Promise<ChatResult> {
      const body = {
        model: target.model,
        input: messages.map(inputOf),
        max_output_tokens: maxOutputTokens,
        store: false,
      };
      const answer = await http.postJson(target, 'responses', body, { key: target.auth('bearer') });
      return resultOf(isObject(answer) ? answer : {});
    },
  }),
};

function inputOf({ role, content }: ChatMessage): object {
  return { role: role === 'system' ? 'developer' : role, content };
}

function resultOf({
  output_text: whole,
  output,
  incomplete_details: details,
  status,
  usage,
}: Record<string, unknown>): ChatResult {
  const parts = (Array.isArray(output) ? output : [])
    .filter(isObject)
    .flatMap(({ content }) => (Array.isArray(content) ? content.filter(isObject) : []))
    .filter(({ type }) => type === undefined || type === 'output_text' || type === 'text');
  const texts = parts.flatMap(({ text }) => (typeof text === 'string' ? [text] : []));
  const reason = (isObject(details) ? details.reason : undefined) ?? status;
  return {
    text: typeof whole === 'string' && whole !== '' ? whole : texts.join(''),
    finishReason: typeof reason === 'string' ? reason : undefined,
    rawUsage: usage,
  };
}

function fitOf(model: string): ModelFit {
  const [, reason] = UNSUPPORTED.find(([pattern]) => pattern.test(model)) ?? [];
  return reason === undefined
    ? { status: 'supported', api_surface: SURFACE, reason: `it answers in text through ${SURFACE}` }
    : { status: 'unsupported', api_surface: SURFACE, reason };
}

export default definePlugin({
  name: 'ai-openai',
  host: '^1',
  needs: ['ai'],
  setup: host => host.contribute('ai.provider', 'ai-openai', openai),
});
