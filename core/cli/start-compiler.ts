// Makes V8 slower to optimize code while a host starts. Most functions of a start run a few times, and what is compiled
// for those that run more often costs more processor time and memory than it saves before the first answer.
import { setFlagsFromString } from 'node:v8';

/**
 * How often code runs before V8 optimizes it, with V8's own numbers, by the releases of Node that are known to read
 * them anew.
 */
const THRESHOLDS: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  20: { 'interrupt-budget': 67_584 },
  22: { 'invocation-count-for-turbofan': 3_000 },
  24: { 'invocation-count-for-maglev': 400, 'invocation-count-for-turbofan': 3_000 },
  26: { 'invocation-count-for-maglev': 400, 'invocation-count-for-turbofan': 3_000 },
};
/** A function counts on from its last threshold, so that a larger factor would slow the running host down. */
const FACTOR = 16;

/** The returned function lets it optimize as it does by itself. */
export function holdOptimization(): () => void {
  const [release = ''] = process.versions.node.split('.');
  const thresholds = Object.entries(THRESHOLDS[release] ?? {});
  const multiply = (factor: number): void => {
    for (const [flag, count] of thresholds) setFlagsFromString(`--${flag}=${count * factor}`);
  };
  multiply(FACTOR);
  return () => multiply(1);
}
