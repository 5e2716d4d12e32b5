// The versions of the programs that services run, as their files, commands or answers tell them.

export interface ServiceVersions {
  /** The version as it was last found; null while none is known. Asks nothing and nobody. */
  of(processName: string): string | null;
  /** Looks again now, for example after an installation. Gives what `of` gives afterwards. */
  refresh(processName: string): Promise<string | null>;
  /** A number that changes with every change of a version. */
  readonly revision: number;
}

declare module '#core' {
  interface Services {
    /** The versions of the programs that services run. */
    'service.versions': ServiceVersions;
  }
}
