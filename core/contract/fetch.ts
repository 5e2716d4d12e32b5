// Outgoing HTTP as plugins see it: the answer to a request is a text or a stream.

export interface FetchOptions {
  method?: string;
  headers?: Record<string, string>;
  /** Value to be sent as JSON. */
  json?: unknown;
  /** Chunks of an iterable are sent as they come. A request with such a body follows no redirect, but returns it. */
  body?: string | Uint8Array | AsyncIterable<string | Uint8Array>;
  signal?: AbortSignal;
  /**
   * Whether a disposer of the plugin waits for the request. If so, the request may go on until all disposers have run;
   * otherwise it ends with the plugin's signal. Default false.
   */
  isAwaitedByDisposer?: boolean;
  /** Limit for the whole exchange; for a stream, for the time until its answer begins. Default 15 s. */
  timeoutMs?: number;
  /** For streams: how long the server may send nothing, and how long the body may wait for its reader. Default 15 s. */
  idleTimeoutMs?: number;
  /** Limit for the body of the answer. A larger text is an error; a stream fails when it exceeds it. Default 10 MiB. */
  maxBytes?: number;
  /** Number of redirects that are followed; one more is an error. With 0 a redirect is returned. Default 5. */
  redirects?: number;
  /** How long connecting to the server may take, as a part of `timeoutMs`. Default 15 s. */
  connectTimeoutMs?: number;
  /** Whether the certificate of the server must be trusted. Default true. */
  verifyTls?: boolean;
  /** Whether the connection may be used for later requests. Default true. */
  keepAlive?: boolean;
  /**
   * The IP addresses to connect to, without a look-up of the server's name, for a caller that has resolved and checked
   * them itself. No redirect is followed then, and the connection is not used again.
   */
  addresses?: readonly string[];
  /** Whether the request goes through the proxy that the environment names for it. Default false. */
  proxied?: boolean;
  /** Whether the body is returned as a stream. Default false. */
  stream?: boolean;
}

/** Bodies are not decompressed: no compression is requested, and a compressed body is returned as it is. */
export interface FetchAnswer {
  readonly status: number;
  readonly headers: Record<string, string | string[] | undefined>;
  readonly text: string;
  /** Parses the text; throws when it is not JSON, or compressed. */
  json(): unknown;
}

export interface FetchStream {
  readonly status: number;
  readonly headers: Record<string, string | string[] | undefined>;
  /**
   * Can be read once. Ends with an error when the server disconnects or sends nothing for too long, when the body is
   * too large, and when the plugin is withdrawn. Leaving a `for await` closes the connection.
   */
  readonly body: AsyncIterable<Buffer>;
}
