// What the console offers to the listeners that show it.

export interface ConsoleDocument {
  readonly html: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** One page with services, logs, metrics and plugins, for browsers. */
export interface ConsolePage {
  /** `routesAt` leads from the address of the page to the routes of the host: `./`, or `api/` on a gateway. */
  open(routesAt: string): Promise<ConsoleDocument>;
}

declare module '#core' {
  interface Services {
    /** The page that shows the stack to a browser. */
    'console.page': ConsolePage;
  }
}
