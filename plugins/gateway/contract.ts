// What the gateway offers to a web frontend that runs as a process of its own.

/** The web interfaces of services below `/service/ui/`, for a frontend that shows them in its own pages. */
export interface UiEntrance {
  /** Base URL on the loopback interface; its port is the same in every run if it is free. The first call opens it. */
  address(): Promise<string>;
}

declare module '#core' {
  interface Services {
    /** Serves web interfaces to a frontend, with or without a reverse proxy. */
    'service.ui-entrance': UiEntrance;
  }
}
