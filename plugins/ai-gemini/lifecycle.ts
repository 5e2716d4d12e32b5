// Models of Gemini that have ended or will end, each with the day of its end and the replacement that the vendor names.
import type { ModelEnd } from '../ai/contract.ts';

const ENDS: readonly (readonly [shutdownDate: string, replacement: string, models: string])[] = [
  ['2025-11-14', 'gemini-2.5-flash-image', 'gemini-2.0-flash-preview-image-generation'],
  ['2025-11-18', 'gemini-3.6-flash', 'gemini-2.5-flash-preview-05-20'],
  [
    '2025-12-02',
    'gemini-3.1-pro-preview',
    'gemini-2.5-pro-preview-03-25 gemini-2.5-pro-preview-05-06 gemini-2.5-pro-preview-06-05',
  ],
  ['2025-12-09', 'gemini-2.5-flash-lite', 'gemini-2.0-flash-lite-preview gemini-2.0-flash-lite-preview-02-05'],
  ['2026-01-15', 'gemini-2.5-flash-image', 'gemini-2.5-flash-image-preview'],
  ['2026-02-17', 'gemini-3.6-flash', 'gemini-2.5-flash-preview-09-25'],
  ['2026-03-09', 'gemini-3.1-pro-preview', 'gemini-3-pro-preview'],
  ['2026-03-31', 'gemini-3.1-flash-lite', 'gemini-2.5-flash-lite-preview-09-2025'],
  ['2026-04-30', 'gemini-robotics-er-1.6-preview', 'gemini-robotics-er-1.5-preview'],
  ['2026-05-25', 'gemini-3.1-flash-lite', 'gemini-3.1-flash-lite-preview'],
  ['2026-06-01', 'gemini-3.1-flash-lite', 'gemini-2.0-flash-lite gemini-2.0-flash-lite-001'],
  ['2026-06-01', 'gemini-3.6-flash', 'gemini-2.0-flash gemini-2.0-flash-001'],
  ['2026-06-25', 'gemini-3-pro-image', 'gemini-3-pro-image-preview'],
  ['2026-06-25', 'gemini-3.1-flash-image', 'gemini-3.1-flash-image-preview'],
  ['2026-10-02', 'gemini-3.1-flash-image-preview', 'gemini-2.5-flash-image'],
  ['2027-05-07', 'gemini-3.5-flash-lite', 'gemini-3.1-flash-lite'],
];

export const lifecycle: readonly ModelEnd[] = ENDS.flatMap(([shutdown_date, replacement, models]) =>
  models.split(' ').map(model => ({ model, shutdown_date, replacement })),
);
