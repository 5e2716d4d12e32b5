// The contract of the health of the whole: what plugins say there of themselves.

/** What a plugin says of itself in the answer of `/health`. It makes nothing unhealthy. Asked at each request. */
export interface HealthNote {
  /** What does not work at present, and what to do, in words without a final stop; null while all is well. */
  text(): string | null;
}

declare module '#core' {
  interface Contributions {
    'health.note': HealthNote;
  }
}
