// OpenAI: its responses, what it calls the roles, and models that ended or are not for text.
import t from 'tap';
import { holdProvider } from '../../contracts/ai-provider.ts';
import { contributionOf } from '../../support/templates.ts';

const API = 'https://api.openai.com/v1';
const CHAT = `POST ${API}/responses`;

holdProvider(t, await contributionOf('ai-openai', 'ai.provider'), {
  record: { base_url: '', model: 'gpt-9' },
  chats: [
    {
      sends: {
        to: CHAT,
        headers: { authorization: 'Bearer k3y-that-nobody-may-learn' },
        json: {
          model: 'gpt-9',
          input: [
            { role: 'developer', content: 'You are brief.' },
            { role: 'user', content: 'One?' },
            { role: 'assistant', content: 'Two.' },
            { role: 'user', content: 'Three?' },
          ],
          max_output_tokens: 777,
          store: false,
          temperature: undefined,
          tools: undefined,
        },
      },
      answers: {
        body: {
          output: [
            { type: 'reasoning', summary: [] },
            {
              type: 'message',
              content: [{ type: 'output_text', text: 'Fo' }, { type: 'refusal', refusal: 'x' }, { text: 'ur' }],
            },
          ],
          usage: { input_tokens: 1, output_tokens: 2, total_tokens: 3, output_tokens_details: { reasoning_tokens: 1 } },
        },
      },
      text: 'Four',
      usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 },
    },
    { sends: { to: CHAT }, answers: { body: { output_text: 'Four.' } }, text: 'Four.', usage: {} },
  ],
  models: [
    {
      sends: { to: `GET ${API}/models` },
      answers: { body: { data: [{ id: 'gpt-9', owned_by: 'system' }, { id: 'dall-e-3' }, { id: 'gpt-4' }] } },
      models: [
        { name: 'dall-e-3', compatibility: { status: 'unsupported', api_surface: 'responses' } },
        { name: 'gpt-4', lifecycle: { provider: 'openai', shutdown_date: '2026-10-23' } },
        { name: 'gpt-9', owned_by: 'system', compatibility: { status: 'supported', model: 'gpt-9' } },
      ],
    },
  ],
  silent: [
    { body: { incomplete_details: { reason: 'max_output_tokens' } }, reason: /without text \(max_output_tokens\)/ },
    { body: { status: 'failed', output: [] }, reason: /failed/ },
  ],
  refuses: [
    {
      status: 401,
      body: { error: { message: 'Incorrect API key provided', type: 'invalid_request_error' } },
      error: /\(401\): Incorrect API key provided$/,
    },
  ],
  refusedModels: [
    { model: 'gpt-4-0314', error: /was shut down on 2026-03-26; choose gpt-5$/ },
    { model: 'text-embedding-3-small', error: /embeddings or moderation/ },
    { model: 'gpt-4o-audio-preview', error: /audio or realtime/ },
    { model: 'gpt-image-1', error: /images or video/ },
    { model: 'o3-deep-research', error: /specialised tool/ },
  ],
});
