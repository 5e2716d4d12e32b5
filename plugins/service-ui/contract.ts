// Which services have a web interface, and where it answers.

export interface ServiceUi {
  /** Route name: `/ui/<name>/` and `/service/ui/<name>/`. */
  readonly name: string;
  readonly processName: string;
  /** Type told to the frontend. */
  readonly kind: string;
  readonly configKey: string;
  /** As clients on this machine reach it; wildcard addresses are given as 127.0.0.1. */
  readonly host: string;
  readonly port: number;
  /** Native landing path; empty: the root. */
  readonly entryPath: string;
  /** Folder below which the interface lives, for those that do not serve it from the root. */
  readonly pathPrefix: string | undefined;
  /** false: it forbids being shown in a frame. */
  readonly frameable: boolean;
  readonly publicUrl: string | undefined;
  /** Service of the reverse proxy itself that serves it instead of a port. */
  readonly internalTarget: string | undefined;
  /** Its pages ask for more below the root: what comes from one of them is theirs. */
  readonly asksBelowRoot: boolean;
}

/** The service that embeds the interfaces, where one can be configured. */
export interface ReverseProxy {
  readonly configKey: string;
  /** Where the routes of the interfaces stand. */
  routesFile(): string;
  /** Where it answers. */
  address(): string;
}

/** The web interfaces of enabled services, for whoever serves or lists them. */
export interface ServiceUis {
  /** Of enabled services, in the order of the configuration. */
  list(): readonly ServiceUi[];
  /** Whether embedding is switched on. */
  enabled(): boolean;
  /** Whether the reverse proxy itself runs and serves them. */
  proxyRuns(): boolean;
}

declare module '#core' {
  interface Services {
    'service.uis': ServiceUis;
    'service.proxy': ReverseProxy;
  }
}
