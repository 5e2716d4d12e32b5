// The routes that call a provider without any evidence: a test, and the list of its models.
import { type Host, Problem } from '#core';
import { AI_BODY_LIMIT_BYTES } from '../body-values.ts';
import type { ProviderCalls } from '../providers/provider-calls.ts';
import { modelsAnswer, testAnswer } from '../providers/provider-wire.ts';
import type { SettingsStore } from './settings-store.ts';
import { callBody } from './settings-wire.ts';

const MAX_PROMPT_LENGTH = 500;
const TEST_OUTPUT_TOKENS = 1_024;
const TEST_SYSTEM = 'This is a test of the connection. Answer briefly.';
const TEST_PROMPT = 'Say in one short sentence that you can be reached.';

export function registerCallRoutes(
  host: Host,
  { store, calls }: { readonly store: SettingsStore; readonly calls: ProviderCalls },
): void {
  host.route({
    method: 'POST',
    path: '/ai/test',
    summary: 'Asks the provider one short question, and tells it nothing else',
    bodyLimitBytes: AI_BODY_LIMIT_BYTES,
    body: callBody,
    response: testAnswer,
    async handle({ body: { prompt, ...change }, signal }) {
      const question = prompt?.trim() || TEST_PROMPT;
      if (question.length > MAX_PROMPT_LENGTH)
        throw new Problem(400, `prompt is longer than ${MAX_PROMPT_LENGTH} characters`);
      const record = store.callRecord(change);
      const messages = [
        { role: 'system', content: TEST_SYSTEM },
        { role: 'user', content: question },
      ] as const;
      const ready = calls.readyForChat(record);
      const { text, usage } = await calls.chat(ready, { messages, maxOutputTokens: TEST_OUTPUT_TOKENS }, signal);
      return { ok: true as const, provider: spelt(change, record), model: record.model, response: text, usage };
    },
  });
  host.route({
    method: 'POST',
    path: '/ai/models',
    summary: 'The models that the provider lists, asked anew each time',
    bodyLimitBytes: AI_BODY_LIMIT_BYTES,
    body: callBody,
    response: modelsAnswer,
    async handle({ body, signal }) {
      const record = store.callRecord(body);
      return { provider: spelt(body, record), models: await calls.listModels(record, signal) };
    },
  });
}

/** The provider's name as the request spells it. */
function spelt(
  { provider }: { readonly provider?: string | undefined },
  record: { readonly provider: string },
): string {
  return provider?.trim().toLowerCase() || record.provider;
}
