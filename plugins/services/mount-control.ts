// The remote control of a running mount provider, through which it learns of changed files.

export interface MountControl {
  /** Port on this machine. */
  readonly port: number;
  /** User name and password are both empty when none are required. */
  readonly user: string;
  readonly password: string;
}

declare module '#core' {
  interface Services {
    /** The control of a process that mounts; undefined when it has none, or does not run. */
    'mount.control': (processName: string) => Promise<MountControl | undefined>;
  }
}
