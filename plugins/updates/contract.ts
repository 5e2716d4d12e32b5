// The events of updates, for plugins that notify users of them.

declare module '#core' {
  interface Events {
    /** A newer release of a service was found. Emitted once for each release, even when the host restarts. */
    'update.available': {
      readonly processName: string;
      /** null when the version is unknown. */
      readonly currentVersion: string | null;
      readonly availableVersion: string;
      readonly releaseUrl: string | null;
    };
    /** A release was installed, and the service runs on it if it ran before. */
    'update.succeeded': {
      readonly processName: string;
      readonly previousVersion: string | null;
      readonly currentVersion: string;
    };
    /** A check for updates or an installation has failed. Checks that fail alike are emitted once in 24 hours. */
    'update.failed': {
      readonly processName: string;
      readonly operation: 'check' | 'install';
      readonly reason: string;
    };
  }
}

export {};
