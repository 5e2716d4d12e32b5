// The point by which plugins publish lists for clients, beside the capability flags.

/** A list for clients that says more than a flag can, for example which services a tool is for. */
export interface HostFact {
  /** Called for each answer. */
  values(): readonly string[];
}

declare module '#core' {
  interface Contributions {
    /** Lists in `GET /host/plugins` that clients look up; the key is a list's name there. */
    'host.fact': HostFact;
  }
}
