// What host-plugins offers to other plugins: lists that clients look up, beside the capability flags.

/** A list that tells clients more than a flag can, for example which services a tool is for. */
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
