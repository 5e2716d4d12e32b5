// Findings from measured values of the machine, of processes and of databases.
import { isObject } from '#kit/plain-object';
import type { Sample } from '../../metrics/contract.ts';
import { knownCause } from '../logs/known-causes.ts';
import type { Finding } from './finding.ts';

const FULL_PERCENT = 95;
const SHORT_MEMORY_PERCENT = 96;
const FULL_WEIGHT = 92;
const MEMORY_WEIGHT = 50;
const CPU_WEIGHT = 30;
const PRESSURE_WEIGHT = 48;
const CPU_INCREASE_PERCENT = 25;
const MIN_SAMPLES = 10;
const MIN_CPU_PERCENT = 1;
/** Levels of database health that are a finding. The other levels mean that all is well or nothing is known. */
const RAISED_PRESSURES = ['moderate', 'high', 'critical'];

/** Findings from the newest sample of the machine. */
export function machineFindings({ system }: Sample): Finding[] {
  const full = system.fileSystems.flatMap(({ path, space, inodes }): Finding[] => [
    ...fullDisk('disk-full', path, space.percent, ''),
    ...fullDisk('inodes-used-up', path, inodes.percent, ' of its inodes'),
  ]);
  const { percent } = system.memory;
  if (percent === null || percent < SHORT_MEMORY_PERCENT) return full;
  return [
    ...full,
    {
      id: 'memory-short',
      title: 'The machine is short of memory',
      facts: `${percent.toFixed(1)} % of the memory are in use.`,
      advice: 'Look at which service uses most of it.',
      weight: MEMORY_WEIGHT,
    },
  ];
}

function fullDisk(id: string, path: string, percent: number | null, what: string): Finding[] {
  const cause = knownCause(id)?.cause;
  if (percent === null || percent < FULL_PERCENT || cause === undefined) return [];
  const facts = `${path} has ${percent.toFixed(1)} %${what} in use.`;
  return [{ id, title: cause.title, risk: 'medium', facts, advice: cause.advice, weight: FULL_WEIGHT }];
}

/** `metrics` are the metrics of one process. */
export function usageFindings(processName: string, metrics: unknown): Finding[] {
  if (!isObject(metrics) || !isObject(metrics.changes)) return [];
  const { cpu_percent_average_percent: increase } = metrics.changes;
  const [now, before] = [cpuOf(metrics.current), cpuOf(metrics.baseline)];
  if (typeof increase !== 'number' || increase < CPU_INCREASE_PERCENT || now === undefined || before === undefined)
    return [];
  if (Math.min(now.samples, before.samples) < MIN_SAMPLES || before.average < MIN_CPU_PERCENT) return [];
  return [
    {
      id: 'investigate-cpu-increase',
      title: 'A service needs more of the processor than before',
      action: 'observe',
      facts: `${processName} used ${now.average.toFixed(1)} % on the average, ${before.average.toFixed(1)} % before.`,
      advice: 'Compare what it did in both times.',
      weight: CPU_WEIGHT,
    },
  ];
}

function cpuOf(usage: unknown): { readonly samples: number; readonly average: number } | undefined {
  const cpu = isObject(usage) && isObject(usage.cpu_percent) ? usage.cpu_percent : {};
  const { samples, average } = cpu;
  return typeof samples === 'number' && typeof average === 'number' ? { samples, average } : undefined;
}

/** `health` is the health of the databases of one process. */
export function databaseFindings(processName: string, health: unknown): Finding[] {
  if (!isObject(health) || !RAISED_PRESSURES.includes(String(health.pressure))) return [];
  const reasons = (Array.isArray(health.reasons) ? health.reasons : []).filter(reason => typeof reason === 'string');
  return [
    {
      id: 'review-database-pressure',
      title: 'A database is under pressure',
      risk: 'medium',
      facts: `The pressure of the databases of ${processName} is ${health.pressure}. ${reasons.join(' ')}`.trim(),
      advice: 'Look at the reasons that database health names.',
      weight: PRESSURE_WEIGHT,
    },
  ];
}
