// Open WebUI: its API stands below `/api`, wherever people paste it from.
import t from 'tap';
import { holdProvider, MESSAGES } from '../../contracts/ai-provider.ts';
import { contributionOf } from '../../support/templates.ts';

const STORED = 'http://webui.example:3000';
const BASE = `${STORED}/api`;

holdProvider(t, await contributionOf('ai-open-webui', 'ai.provider'), {
  record: { base_url: STORED, model: 'tiny' },
  bases: [
    { stored: STORED, base: BASE },
    { stored: `${STORED}/api/`, base: BASE },
    { stored: `${STORED}/api/chat/completions`, base: BASE },
    { stored: `${STORED}/sub`, base: `${STORED}/sub/api` },
  ],
  refusedBases: ['', 'http://127.0.0.1:11434'],
  chats: [
    {
      sends: {
        to: `POST ${BASE}/chat/completions`,
        headers: { authorization: 'Bearer k3y-that-nobody-may-learn' },
        json: { model: 'tiny', messages: MESSAGES, temperature: 0.2 },
      },
      answers: { body: { choices: [{ message: { content: 'Four.' } }] } },
      text: 'Four.',
    },
  ],
  models: [
    {
      sends: { to: `GET ${BASE}/models` },
      answers: { body: { data: [{ id: 'x', connection_type: 'local' }] } },
      models: [{ name: 'x', source: 'local', source_detail: 'local' }],
    },
  ],
  silent: [{ body: { choices: [{ message: {} }] }, reason: /without text/ }],
});
