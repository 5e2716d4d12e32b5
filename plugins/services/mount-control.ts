// How a running mount provider is told from outside what changed.

export interface MountControl {
  /** On this machine alone. */
  readonly port: number;
  /** Both empty: whoever can reach it may use it. */
  readonly user: string;
  readonly password: string;
}

declare module '#core' {
  interface Services {
    /** Of a process that mounts; undefined while it has none, or does not run. */
    'mount.control': (processName: string) => Promise<MountControl | undefined>;
  }
}
