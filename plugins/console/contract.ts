// The service by which listeners show the console.

export interface ConsoleDocument {
  readonly html: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** One page with services, logs, metrics and plugins, for browsers. */
export interface ConsolePage {
  /** `routesAt` is the relative URL from the page to the routes of the host: `./`, or `api/` on a gateway. */
  open(routesAt: string): Promise<ConsoleDocument>;
}

declare module '#core' {
  interface Services {
    /** The page that shows the stack to a browser. */
    'console.page': ConsolePage;
  }
}
