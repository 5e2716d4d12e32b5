// How a running rclone is told what to do from outside.

export interface RemoteControl {
  /** On this machine alone. */
  readonly port: number;
  /** Both empty: whoever can reach it may use it. */
  readonly user: string;
  readonly password: string;
}

declare module '#core' {
  interface Services {
    /** Of a process of rclone; undefined while it has none, or does not run. */
    'rclone.control': (processName: string) => Promise<RemoteControl | undefined>;
  }
}
