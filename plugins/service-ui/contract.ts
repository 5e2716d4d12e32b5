// The web interfaces of services, and the reverse proxy that may serve them.

export interface ServiceUi {
  /** Name in the routes `/ui/<name>/` and `/service/ui/<name>/`. */
  readonly name: string;
  readonly processName: string;
  /** Type that is reported to the frontend. */
  readonly kind: string;
  readonly configKey: string;
  /** Whether this is the host's own API. */
  readonly isHost: boolean;
  /** Host for clients on this machine; wildcard addresses become 127.0.0.1. */
  readonly host: string;
  readonly port: number;
  /** Path of the landing page; empty for the root. */
  readonly entryPath: string;
  /** Folder below which the interface is served, for services that do not serve it at the root. */
  readonly pathPrefix: string | undefined;
  /** Folders that pages refer to without `pathPrefix`, although they are served below it. */
  readonly foldersBelowPrefix: readonly string[];
  /** false when the interface forbids being shown in a frame. */
  readonly frameable: boolean;
  readonly publicUrl: string | undefined;
  /** Internal service of the reverse proxy that serves the interface instead of a port. */
  readonly internalTarget: string | undefined;
  /** Whether its pages request paths at the root; such requests are recognized by their Referer and routed to it. */
  readonly asksBelowRoot: boolean;
}

/** The service that embeds web interfaces, if one can be configured. */
export interface ReverseProxy {
  readonly configKey: string;
  /** Path of the file with the routes of the interfaces. */
  routesFile(): string;
  /** Base URL of the reverse proxy. */
  address(): string;
}

export interface PublishedUis {
  readonly uis: readonly ServiceUi[];
  readonly warnings: readonly string[];
}

/** The web interfaces of enabled services, for plugins that serve or list them. */
export interface ServiceUis {
  /** Interfaces of enabled services, in the order of the configuration. */
  list(): readonly ServiceUi[];
  /** The interfaces that a reverse proxy may publish; `warnings` says which it may not, and what to do. */
  published(): PublishedUis;
  /** Whether embedding is switched on. */
  enabled(): boolean;
}

declare module '#core' {
  interface Services {
    'service.uis': ServiceUis;
    'service.proxy': ReverseProxy;
  }
}
