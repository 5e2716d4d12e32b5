// The events of updates, for whoever tells people of them.

declare module '#core' {
  interface Events {
    /** A newer release of a service was found. Emitted once for each release, also over restarts of the host. */
    'update.available': {
      readonly processName: string;
      /** null while it is unknown. */
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
    /**
     * A look for updates or an installation has failed. What fails in the same way again is emitted once in 24 hours.
     */
    'update.failed': {
      readonly processName: string;
      readonly operation: 'check' | 'install';
      readonly reason: string;
    };
  }
}

export {};
