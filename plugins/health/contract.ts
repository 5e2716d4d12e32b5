// The point by which plugins add notes about themselves to the answer of `/health`.

/** A note of a plugin in the answer of `/health`. It is asked for at each request, and does not change the status. */
export interface HealthNote {
  /** What does not work at present, and what to do, without a full stop at the end; null while all is well. */
  text(): string | null;
}

declare module '#core' {
  interface Contributions {
    'health.note': HealthNote;
  }
}
