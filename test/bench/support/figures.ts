// Prints a figure of a benchmark as a line of JSON: the median of its runs, and of the baseline in the same run.

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

interface Figure {
  readonly name: string;
  readonly unit: string;
  readonly runs: readonly number[];
  /** The same measurement of the baseline, mostly bare Node. */
  readonly baseline: readonly number[];
}

export function printFigure({ name, unit, runs, baseline }: Figure): void {
  const base = median(baseline);
  const value = median(runs);
  const ratio = base === 0 ? null : round(value / base);
  console.log(
    JSON.stringify({ name, unit, median: round(value), runs: runs.map(round), ratio, baseline: round(base) }),
  );
}

function round(value: number): number {
  return value >= 100 ? Math.round(value) : Number(value.toPrecision(3));
}
