// Google Gemini over its own API. The key goes into a header, never into a URL.
import { definePlugin } from '#core';
import { isObject } from '#kit/plain-object';
import type { AiProvider, ChatMessage, ChatResult, ModelEntry, ModelFit, ProviderTarget } from '../ai/contract.ts';
import { lifecycle } from './lifecycle.ts';

const API = 'https://generativelanguage.googleapis.com/v1beta';
const SURFACE = 'generateContent';
const UNSUPPORTED = /embedding|imagen|veo|lyria|robotics|image|live|audio|tts|computer-use/;

const gemini: AiProvider = {
  descriptor: {
    value: 'gemini',
    aliases: ['google_gemini'],
    tokens: ['native_a', 'native_a_alt'],
    label: 'Google Gemini',
    promptBudgetChars: 400_000,
    locality: 'external',
    endpoint: { mode: 'managed', url: API },
    key: 'required',
    temperature: false,
    models: { sourceUrl: 'https://ai.google.dev/gemini-api/docs/deprecations', lifecycle },
    compatibility: fitOf,
  },
  create: ({ http }) => ({
    async listModels(target) {
      const answer = await http.getJson(target, 'models?pageSize=1000', { key: keyOf(target) });
      const { models } = isObject(answer) ? answer : {};
      const entries = (Array.isArray(models) ? models : []).filter(isObject).filter(canGenerate).map(entryOf);
      return entries.sort((a, b) => (a.name.toLowerCase() < b.name.toLowerCase() ? -1 : 1));
    },
    async chat(target, { messages, maxOutputTokens }): Promise<ChatResult> {
      const model = encodeURIComponent(target.model.replace(/^models\//, ''));
      const system = messages.filter(({ role }) => role === 'system').map(({ content }) => content);
      const body = {
        contents: messages.filter(({ role, content }) => role !== 'system' && content.trim() !== '').map(contentOf),
        systemInstruction: system.length === 0 ? undefined : { parts: [{ text: system.join('\n\n') }] },
        generationConfig: { maxOutputTokens },
      };
      const answer = await http.postJson(target, `models/${model}:generateContent`, body, { key: keyOf(target) });
      return resultOf(isObject(answer) ? answer : {});
    },
    mapUsage(raw) {
      const counts = (isObject(raw) ? raw : {}) as Record<string, number | undefined>;
      return {
        prompt_tokens: counts.promptTokenCount,
        completion_tokens: counts.candidatesTokenCount,
        total_tokens: counts.totalTokenCount,
        cached_tokens: counts.cachedContentTokenCount,
        thoughts_tokens: counts.thoughtsTokenCount,
      };
    },
  }),
};

function keyOf(target: ProviderTarget) {
  return target.auth({ header: 'x-goog-api-key' });
}

function contentOf({ role, content }: ChatMessage): object {
  return { role: role === 'assistant' ? 'model' : 'user', parts: [{ text: content }] };
}

/** The text without the model's thoughts, unless there is nothing else. */
function resultOf({ candidates, promptFeedback, usageMetadata }: Record<string, unknown>): ChatResult {
  const first: unknown = Array.isArray(candidates) ? candidates[0] : undefined;
  const { content, finishReason } = isObject(first) ? first : {};
  const parts = isObject(content) && Array.isArray(content.parts) ? content.parts.filter(isObject) : [];
  const texts = parts.filter(({ text }) => typeof text === 'string' && text !== '');
  const said = texts.filter(({ thought }) => thought !== true);
  const reason = (isObject(promptFeedback) ? promptFeedback.blockReason : undefined) ?? finishReason;
  return {
    text: (said.length > 0 ? said : texts).map(({ text }) => text).join('\n'),
    finishReason: typeof reason === 'string' ? reason : undefined,
    rawUsage: usageMetadata,
  };
}

function canGenerate(entry: Record<string, unknown>): boolean {
  const actions = entry.supportedGenerationMethods ?? entry.supportedActions;
  return !Array.isArray(actions) || actions.includes(SURFACE);
}

function entryOf(entry: Record<string, unknown>): ModelEntry {
  return {
    name: typeof entry.name === 'string' ? entry.name.replace(/^models\//, '') : '',
    source: 'external',
    source_detail: 'google',
    display_name: entry.displayName,
    description: entry.description,
    input_token_limit: entry.inputTokenLimit,
    output_token_limit: entry.outputTokenLimit,
  };
}

function fitOf(model: string): ModelFit {
  return UNSUPPORTED.test(model)
    ? {
        status: 'unsupported',
        api_surface: SURFACE,
        reason: 'it is a special model, or one that is not for text; choose one that generates text',
      }
    : { status: 'supported', api_surface: SURFACE, reason: `it answers in text through ${SURFACE}` };
}

export default definePlugin({
  name: 'ai-gemini',
  host: '^1',
  needs: ['ai'],
  setup: host => host.contribute('ai.provider', 'ai-gemini', gemini),
});
