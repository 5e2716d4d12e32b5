// The memory that unsent data of all stream clients may take together.

const BUDGET_BYTES = 32 * 1024 * 1024;

export class UnsentBudget {
  #bytes = 0;

  get isExceeded(): boolean {
    return this.#bytes > BUDGET_BYTES;
  }

  change(bytes: number): void {
    this.#bytes += bytes;
  }
}
