// Models of Anthropic that have ended or will end, each with the day of its end and the replacement that the vendor
// names.
import type { ModelEnd } from '../ai/contract.ts';

const ENDS: readonly (readonly [shutdownDate: string, replacement: string, models: string])[] = [
  [
    '2024-11-06',
    'claude-haiku-4-5-20251001',
    'claude-1.0 claude-1.1 claude-1.2 claude-1.3 claude-instant-1.0 claude-instant-1.1 claude-instant-1.2',
  ],
  ['2025-07-21', 'claude-opus-4-8', 'claude-2.0 claude-2.1'],
  ['2025-07-21', 'claude-sonnet-4-6', 'claude-3-sonnet-20240229'],
  ['2025-10-28', 'claude-sonnet-4-6', 'claude-3-5-sonnet-20240620 claude-3-5-sonnet-20241022'],
  ['2026-01-05', 'claude-opus-4-8', 'claude-3-opus-20240229'],
  ['2026-02-19', 'claude-haiku-4-5-20251001', 'claude-3-5-haiku-20241022'],
  ['2026-02-19', 'claude-sonnet-4-6', 'claude-3-7-sonnet-20250219'],
  ['2026-04-20', 'claude-haiku-4-5-20251001', 'claude-3-haiku-20240307'],
  ['2026-06-15', 'claude-opus-4-8', 'claude-opus-4-20250514'],
  ['2026-06-15', 'claude-sonnet-4-6', 'claude-sonnet-4-20250514'],
  ['2026-08-05', 'claude-opus-4-8', 'claude-opus-4-1-20250805'],
];

export const lifecycle: readonly ModelEnd[] = ENDS.flatMap(([shutdown_date, replacement, models]) =>
  models.split(' ').map(model => ({ model, shutdown_date, replacement })),
);
