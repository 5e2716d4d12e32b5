// The versions of the programs that services run, found in their files, by their commands or in their answers.

export interface ServiceVersions {
  /** The version as it was last found; null while none is known. Reads nothing. */
  of(processName: string): string | null;
  /** Looks the version up now, for example after an installation, and returns it as `of` does. */
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
