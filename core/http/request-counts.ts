// Counts how requests were answered since the start of the host, by the groups of their routes. Counting one is a mere
// addition, because every request passes here.
import type { HttpRequests, RequestCount } from '../contract/route.ts';

/** The names of the counters. The index is the first digit of the status; 0 counts answers that were cut. */
const CLASSES = ['cut', '1xx', '2xx', '3xx', '4xx', '5xx'] as const;
const MS_PER_S = 1_000;

interface Group {
  readonly answers: number[];
  ms: number;
}

export class RequestCounts implements HttpRequests {
  readonly #groups = new Map<string, Group>();

  /** `status` is 0 when the client left before the end of the answer. */
  add(group: string, status: number, ms: number): void {
    let counted = this.#groups.get(group);
    if (counted === undefined) {
      counted = { answers: CLASSES.map(() => 0), ms: 0 };
      this.#groups.set(group, counted);
    }
    const index = Math.min(Math.floor(status / 100), CLASSES.length - 1);
    counted.answers[index] = (counted.answers[index] ?? 0) + 1;
    counted.ms += ms;
  }

  counts(): readonly RequestCount[] {
    return [...this.#groups].map(([group, { answers, ms }]) => ({
      group,
      answers: Object.fromEntries(CLASSES.map((name, index) => [name, answers[index] ?? 0])),
      seconds: ms / MS_PER_S,
    }));
  }
}
