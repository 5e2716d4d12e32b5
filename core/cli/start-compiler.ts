// Makes V8 optimize less code while a host starts. Most functions of a start run only a few times, and optimizing the
// others costs more processor time and memory than it saves before the first answer.
import { setFlagsFromString } from 'node:v8';

/**
 * V8's default thresholds for optimizing code, by flag, for the releases of Node known to read the flags at run time.
 */
const THRESHOLDS: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  20: { 'interrupt-budget': 67_584 },
  22: { 'invocation-count-for-turbofan': 3_000 },
  24: { 'invocation-count-for-maglev': 400, 'invocation-count-for-turbofan': 3_000 },
  26: { 'invocation-count-for-maglev': 400, 'invocation-count-for-turbofan': 3_000 },
};
/**
 * How much the thresholds are raised. A function keeps its last threshold, so more would slow down the running host.
 */
const FACTOR = 16;

/** Raises the thresholds. The returned function restores the defaults. */
export function holdOptimization(): () => void {
  const [release = ''] = process.versions.node.split('.');
  const thresholds = Object.entries(THRESHOLDS[release] ?? {});
  const multiply = (factor: number): void => {
    for (const [flag, count] of thresholds) setFlagsFromString(`--${flag}=${count * factor}`);
  };
  multiply(FACTOR);
  return () => multiply(1);
}
