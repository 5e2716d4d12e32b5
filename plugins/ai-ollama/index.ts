// Ollama, which runs models on the owner's machine: over its own API, or over chat completions if the base ends with
// `/v1`.
import { definePlugin, Problem } from '#core';
import { isObject } from '#kit/plain-object';
import type { AiProvider, ChatResult, ModelEntry, ProviderContext, ProviderTarget } from '../ai/contract.ts';

const COUNTS = [
  'prompt_eval_count',
  'eval_count',
  'total_duration',
  'load_duration',
  'prompt_eval_duration',
  'eval_duration',
];

const ollama: AiProvider = {
  descriptor: {
    value: 'ollama',
    tokens: ['local_llm'],
    label: 'Local Ollama',
    promptBudgetChars: 60_000,
    locality: 'local',
    endpoint: { mode: 'custom', defaultUrl: 'http://127.0.0.1:11434', normalize: withoutApi },
    key: 'optional',
    temperature: true,
    optionsSchema: {
      type: 'object',
      properties: {
        num_ctx: { type: 'integer', minimum: 256, description: 'how many tokens the model looks at' },
        max_tokens: { type: 'integer', minimum: 1 },
      },
      additionalProperties: false,
    },
  },
  create: context => ({
    listModels: target => listModels(context, target),
    async chat(target, request): Promise<ChatResult> {
      if (speaksCompletions(target)) return context.completions.chat(target, request, 'chat/completions');
      const { model, temperature, options } = target;
      const { num_ctx, max_tokens: num_predict } = options;
      const { messages } = request;
      const body = { model, messages, stream: false, options: { temperature, num_ctx, num_predict } };
      const answer = await context.http.postJson(target, 'api/chat', body, { key: target.auth('bearer') });
      const { message, response, done_reason, error } = isObject(answer) ? answer : {};
      const content = isObject(message) ? message.content : undefined;
      const reason = done_reason ?? error;
      return {
        text: ([content, response].find(text => typeof text === 'string' && text !== '') as string | undefined) ?? '',
        finishReason: typeof reason === 'string' ? reason : undefined,
        rawUsage: answer,
      };
    },
    mapUsage(raw) {
      if (!isObject(raw)) return {};
      const { prompt_tokens, completion_tokens, total_tokens } = raw as Record<string, number>;
      if (prompt_tokens !== undefined || completion_tokens !== undefined)
        return { prompt_tokens, completion_tokens, total_tokens };
      const counts = Object.fromEntries(COUNTS.map(name => [name, raw[name]]));
      return {
        ...counts,
        prompt_tokens: counts.prompt_eval_count as number,
        completion_tokens: counts.eval_count as number,
      };
    },
  }),
};

async function listModels({ http, completions }: ProviderContext, target: ProviderTarget): Promise<ModelEntry[]> {
  const isCompletions = speaksCompletions(target);
  const root = isCompletions ? target.baseUrl.slice(0, -'/v1'.length) : target.baseUrl;
  try {
    const answer = await http.getJson(target, `${root}/api/tags`, { key: target.auth('bearer') });
    const { models } = isObject(answer) ? answer : {};
    return (Array.isArray(models) ? models : []).filter(isObject).map(entryOf);
  } catch (error) {
    const isMissing = error instanceof Problem && error.code === 'ai.http.404';
    if (isCompletions && isMissing) return completions.models(target, 'models');
    throw error;
  }
}

function entryOf({
  name,
  model,
  size,
  modified_at: modified,
  remote_host: remote,
}: Record<string, unknown>): ModelEntry {
  const called = [name, model].find(text => typeof text === 'string') ?? '';
  // The list also has models that run in Ollama's cloud.
  const isRemote = typeof remote === 'string' || /[:-]cloud$/.test(called);
  return {
    name: called,
    size: Number.isInteger(size) ? size : null,
    modified_at: typeof modified === 'string' ? modified : null,
    source: isRemote ? 'external' : 'local',
    source_detail: 'ollama',
  };
}

function speaksCompletions({ baseUrl }: ProviderTarget): boolean {
  return baseUrl.endsWith('/v1');
}

function withoutApi(url: URL): URL {
  url.pathname = url.pathname.replace(/\/api$/, '');
  return url;
}

export default definePlugin({
  name: 'ai-ollama',
  host: '^1',
  needs: ['ai'],
  setup: host => host.contribute('ai.provider', 'ai-ollama', ollama),
});
