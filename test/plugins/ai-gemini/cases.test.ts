// Google Gemini: its requests, its parts of thoughts, and the models that ended.
import t from 'tap';
import { holdProvider } from '../../contracts/ai-provider.ts';
import { contributionOf } from '../../support/templates.ts';

const API = 'https://generativelanguage.googleapis.com/v1beta';
const CHAT = `POST ${API}/models/gemini-9:generateContent`;

holdProvider(t, await contributionOf('ai-gemini', 'ai.provider'), {
  record: { base_url: 'http://elsewhere.example', model: 'gemini-9' },
  chats: [
    {
      sends: {
        to: CHAT,
        headers: { 'x-goog-api-key': 'k3y-that-nobody-may-learn', authorization: undefined },
        json: {
          contents: [
            { role: 'user', parts: [{ text: 'One?' }] },
            { role: 'model', parts: [{ text: 'Two.' }] },
            { role: 'user', parts: [{ text: 'Three?' }] },
          ],
          systemInstruction: { parts: [{ text: 'You are brief.' }] },
          generationConfig: { maxOutputTokens: 777, temperature: undefined },
        },
      },
      answers: {
        body: {
          candidates: [
            {
              content: { parts: [{ text: 'hm', thought: true }, { text: 'Fo' }, { text: 'ur' }] },
              finishReason: 'STOP',
            },
          ],
          usageMetadata: {
            promptTokenCount: 1,
            candidatesTokenCount: 2,
            totalTokenCount: 9,
            cachedContentTokenCount: 3,
            thoughtsTokenCount: 6,
          },
        },
      },
      text: 'Fo\nur',
      usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 9, cached_tokens: 3, thoughts_tokens: 6 },
    },
    {
      record: { model: 'models/tuned/a b'.replace(' ', '-') },
      sends: { to: `POST ${API}/models/tuned%2Fa-b:generateContent` },
      answers: { body: { candidates: [{ content: { parts: [{ text: 'only thought', thought: true }] } }] } },
      text: 'only thought',
      usage: {},
    },
  ],
  models: [
    {
      sends: { to: `GET ${API}/models?pageSize=1000`, headers: { 'x-goog-api-key': 'k3y-that-nobody-may-learn' } },
      answers: {
        body: {
          models: [
            {
              name: 'models/zeta',
              supportedGenerationMethods: ['generateContent'],
              displayName: 'Z',
              inputTokenLimit: 5,
            },
            { name: 'models/text-embedding-1', supportedGenerationMethods: ['embedContent'] },
            { name: 'models/Alpha', supportedActions: ['generateContent'] },
            { name: 'models/gemini-2.0-flash' },
          ],
        },
      },
      models: [
        { name: 'Alpha', source: 'external', source_detail: 'google', compatibility: { status: 'supported' } },
        { name: 'gemini-2.0-flash', lifecycle: { status: 'retired', replacement: 'gemini-3.6-flash' } },
        { name: 'zeta', display_name: 'Z', input_token_limit: 5, lifecycle: undefined },
      ],
    },
  ],
  silent: [
    { body: { promptFeedback: { blockReason: 'SAFETY' } }, reason: /without text \(SAFETY\)/ },
    { body: { candidates: [{ finishReason: 'MAX_TOKENS' }] }, reason: /MAX_TOKENS/ },
  ],
  refuses: [
    { status: 400, body: { error: { code: 400, message: 'API key not valid' } }, error: /\(400\): API key not valid$/ },
  ],
  refusedModels: [
    { model: 'gemini-2.0-flash', error: /was shut down on 2026-06-01; choose gemini-3\.6-flash$/ },
    { model: 'models/Gemini-2.0-Flash', error: /was shut down/ },
    // What takes the place of this one has ended too.
    { model: 'gemini-2.5-flash-image-preview', error: /choose gemini-3\.1-flash-image$/ },
    { model: 'text-embedding-004', error: /special model/ },
    { model: 'a model', error: /signs that no model of Google Gemini has/ },
  ],
});
