// Models of OpenAI that have ended or will end, each with the day of its end and the replacement that the vendor names.
import type { ModelEnd } from '../ai/contract.ts';

const ENDS: readonly (readonly [shutdownDate: string, replacement: string, models: string])[] = [
  ['2026-03-26', 'gpt-5', 'gpt-4-0314 gpt-4-0125-preview gpt-4-turbo-preview gpt-4-turbo-preview-completions'],
  [
    '2026-07-23',
    'gpt-5.6-sol',
    'gpt-5-chat-latest gpt-5-codex gpt-5.1-chat-latest gpt-5.1-codex gpt-5.1-codex-max gpt-5.2-codex',
  ],
  [
    '2026-07-23',
    'gpt-5.6-terra',
    'gpt-4o-search-preview-2025-03-11 gpt-4o-mini-search-preview-2025-03-11 gpt-5.1-codex-mini',
  ],
  ['2026-08-10', 'gpt-5.6-sol', 'gpt-5.2-chat-latest gpt-5.3-chat-latest'],
  ['2026-09-28', 'gpt-5.6-terra', 'gpt-3.5-turbo-instruct gpt-3.5-turbo-1106 babbage-002 davinci-002'],
  ['2026-10-23', 'gpt-5.6-luna', 'gpt-4.1-nano gpt-4.1-nano-2025-04-14'],
  [
    '2026-10-23',
    'gpt-5.6-sol',
    'gpt-4 gpt-4-0613 gpt-4-0613-completions gpt-4-completions gpt-4-1106-preview gpt-4-turbo gpt-4-turbo-2024-04-09 gpt-4-turbo-completions gpt-4o-2024-05-13 o1 o1-2024-12-17 o1-pro o1-pro-2025-03-19 o3-mini o3-mini-2025-01-31',
  ],
  [
    '2026-10-23',
    'gpt-5.6-terra',
    'gpt-3.5-turbo gpt-3.5-turbo-0125 gpt-3.5-turbo-completions o4-mini o4-mini-2025-04-16',
  ],
  ['2026-12-11', 'gpt-5.6-luna', 'gpt-5-nano-2025-08-07'],
  ['2026-12-11', 'gpt-5.6-sol', 'gpt-5-2025-08-07 gpt-5-pro-2025-10-06 o3-2025-04-16 o3-pro-2025-06-10'],
  ['2026-12-11', 'gpt-5.6-terra', 'gpt-5-mini-2025-08-07'],
];

export const lifecycle: readonly ModelEnd[] = ENDS.flatMap(([shutdown_date, replacement, models]) =>
  models.split(' ').map(model => ({ model, shutdown_date, replacement })),
);
