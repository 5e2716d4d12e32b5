// The error for what a user can cause and fix. It has the HTTP status and the one sentence that the user is shown.

export interface ProblemOptions {
  /** Short stable identifier for programs, for example `process.unknown`. */
  code?: string;
  cause?: unknown;
  /** Members added to the answer beside `detail` (for example `errors` of a 422). */
  extra?: Record<string, unknown>;
  /** Response headers that belong to the answer (for example `Retry-After`). */
  headers?: Record<string, string>;
}

export class Problem extends Error {
  readonly status: number;
  readonly code: string | undefined;
  readonly extra: Record<string, unknown>;
  readonly headers: Record<string, string>;

  /** `detail` is one readable line that says what to do; it never holds a secret. */
  constructor(status: number, detail: string, options: ProblemOptions = {}) {
    super(detail, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'Problem';
    this.status = status;
    this.code = options.code;
    this.extra = options.extra ?? {};
    this.headers = options.headers ?? {};
  }
}
