// Frequent questions, worded by the product. Only ids of questions about changes contain the word `change`, by which
// clients recognise them.
import { z } from 'zod';
import type { ContributionList } from '#core';
import type { AiPreset, DiagnosisScope } from '../contract.ts';

interface Preset {
  readonly id: string;
  readonly label: string;
  readonly question: string;
}

const preset = z.object({ id: z.string(), label: z.string(), question: z.string() });

export const presetsAnswer = z.object({ service: z.array(preset), stack: z.array(preset) });

const PRESETS: Readonly<Record<DiagnosisScope, readonly Preset[]>> = {
  service: [
    {
      id: 'health',
      label: 'Health check',
      question:
        'How did this service behave in the window? Name failures, restarts and errors that were not seen before, and the best next step.',
    },
    {
      id: 'performance',
      label: 'Performance',
      question:
        'Does this service perform better or worse than in the earlier period? Answer in measured values, say what they cover, and what could be tuned.',
    },
    {
      id: 'since_change',
      label: 'Since a change',
      question:
        'What has happened since the newest recorded change of the configuration? Keep measured effects apart from what may be coincidence.',
    },
    {
      id: 'errors',
      label: 'Errors and recovery',
      question: 'Which errors repeat and which are new? Did the service recover, and what is still affected?',
    },
  ],
  stack: [
    {
      id: 'stack_health',
      label: 'Stack health',
      question:
        'Which services are not well, restart in a loop or suffer from a dependency, and which actions help the most?',
    },
    {
      id: 'stack_performance',
      label: 'Performance',
      question:
        'Which services moved the most in processor time, memory, disk, errors or throughput, and what should be tuned first?',
    },
    {
      id: 'stack_changes',
      label: 'Recent changes',
      question: 'How do recorded changes relate to health and performance? Say where there is no proof.',
    },
    {
      id: 'stack_dependencies',
      label: 'Dependencies',
      question: 'Are the order of the start and the dependencies sound? Name weak chains and safe repairs.',
    },
  ],
};

/** The presets of the product, then those of other plugins whose ids are not taken by the product. */
export function presetsOf(contributed: ContributionList<AiPreset>): Record<DiagnosisScope, Preset[]> {
  const own = new Set(Object.values(PRESETS).flatMap(presets => presets.map(({ id }) => id)));
  const others = [...contributed].filter(({ key }) => !own.has(key));
  const of = (scope: DiagnosisScope) =>
    others
      .filter(({ value }) => value.scope === scope)
      .map(({ key, value: { label, question } }) => ({ id: key, label, question }));
  return { service: [...PRESETS.service, ...of('service')], stack: [...PRESETS.stack, ...of('stack')] };
}
