// The protocol of chat completions for adapters of services that speak it.
import { isObject } from '#kit/plain-object';
import type {
  ChatCompletions,
  ChatRequest,
  ChatResult,
  ModelEntry,
  ProviderHttp,
  ProviderTarget,
} from '../contract.ts';
import type { ModelSources } from './model-source.ts';
import { toldBy } from './provider-fault.ts';

export class ChatCompletionsClient implements ChatCompletions {
  readonly #http: ProviderHttp;
  readonly #sources: ModelSources;

  constructor(http: ProviderHttp, sources: ModelSources) {
    this.#http = http;
    this.#sources = sources;
  }

  async chat(target: ProviderTarget, { messages }: ChatRequest, path: string): Promise<ChatResult> {
    const { model, temperature, options } = target;
    const body = { model, messages, temperature, max_tokens: options.max_tokens };
    const answer = await this.#http.postJson(target, path, body, { key: target.auth('bearer') });
    const { choices, usage, error } = isObject(answer) ? answer : {};
    const choice: unknown = Array.isArray(choices) ? choices[0] : undefined;
    const { message, text, finish_reason: reason } = isObject(choice) ? choice : {};
    const content = isObject(message) ? textOf(message.content) : '';
    return {
      text: content || textOf(text),
      // Gateways answer 200 with an error when the service behind them has refused.
      finishReason: toldBy(error) ?? (typeof reason === 'string' ? reason : undefined),
      rawUsage: usage,
    };
  }

  async models(
    target: ProviderTarget,
    path: string,
    { source = false }: { readonly source?: boolean } = {},
  ): Promise<ModelEntry[]> {
    const answer = await this.#http.getJson(target, path, { key: target.auth('bearer') });
    const listed = isObject(answer) ? (answer.data ?? answer.models) : answer;
    const entries = (Array.isArray(listed) ? listed : []).filter(isObject);
    return Promise.all(
      entries.map(async entry => {
        const name = [entry.id, entry.name].find(text => typeof text === 'string') ?? '';
        const owner = typeof entry.owned_by === 'string' ? entry.owned_by : null;
        const { lifecycle, compatibility } = entry;
        const found = source ? await this.#sources.sourceOf(name, entry) : {};
        return { name, owned_by: owner, ...found, lifecycle, compatibility };
      }),
    );
  }
}

/** The text of a message, which is a text or a list of parts. */
function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content
    .filter(isObject)
    .flatMap(({ type, text }) => (type === 'text' && typeof text === 'string' ? [text] : []))
    .join('');
}
