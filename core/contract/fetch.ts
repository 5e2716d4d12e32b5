// Outgoing HTTP as plugins see it: an answer is a text, or a stream.

export interface FetchOptions {
  method?: string;
  headers?: Record<string, string>;
  /** Value to be sent as JSON. */
  json?: unknown;
  /**
   * Chunks of an iterable are sent as they come. Such a request does not follow redirects; a redirect is its answer.
   */
  body?: string | Uint8Array | AsyncIterable<string | Uint8Array>;
  signal?: AbortSignal;
  /**
   * Whether a disposer of the plugin waits for the request: it then goes on while the plugin is disposed of, until the
   * disposers have run. Default false: it ends with the plugin's signal.
   */
  isAwaitedByDisposer?: boolean;
  /** Limit for the whole exchange; for a stream, until its answer begins. Default 15 s. */
  timeoutMs?: number;
  /** For streams: how long the server may send nothing, and how long the body may wait for its reader. Default 15 s. */
  idleTimeoutMs?: number;
  /** Larger answers fail; streams fail at that byte. Default 10 MiB. */
  maxBytes?: number;
  /** Number of redirects that are followed; one more fails. With 0 a redirect is an answer. Default 5. */
  redirects?: number;
  /** How long connecting to the server may take, as a part of `timeoutMs`. Default 15 s. */
  connectTimeoutMs?: number;
  /** Whether the certificate of the server must be trusted. Default true. */
  verifyTls?: boolean;
  /** Whether the connection may be used for later requests. Default true. */
  keepAlive?: boolean;
  /**
   * The addresses to connect to, which the caller has looked at, instead of looking the name of the host up again. No
   * redirect is followed then, and the connection is not used again.
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
