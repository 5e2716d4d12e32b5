// Waits for the look at the processes of an earlier host; before it, nobody knows whether a process runs.
import { Problem } from '#core';
import { withDeadline } from '#kit/deadline';

export class FirstLook {
  readonly #waiting: (() => void)[] = [];

  /** Resolves when the look is over. Throws a Problem 503 where that takes longer than `limitMs`. */
  async over(processName: string, limitMs: number): Promise<void> {
    const known = new Promise<void>(resolve => this.#waiting.push(resolve));
    await withDeadline(() => known, limitMs, 'taking it over').catch((cause: unknown) => {
      throw new Problem(503, `${processName} is being taken over from an earlier run; try again in a moment`, {
        cause,
      });
    });
  }

  end(): void {
    for (const tell of this.#waiting.splice(0)) tell();
  }
}
