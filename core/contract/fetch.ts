// Outgoing HTTP as plugins see it: an answer as a whole text, or as a stream.

export interface FetchOptions {
  method?: string;
  headers?: Record<string, string>;
  /** Sent as JSON. */
  json?: unknown;
  /** Pieces of an iterable are sent as they come; such a request follows no redirect, its answer is the redirect. */
  body?: string | Uint8Array | AsyncIterable<string | Uint8Array>;
  signal?: AbortSignal;
  /** Limit for the whole exchange; for a stream, until its answer begins. Default 15 s. */
  timeoutMs?: number;
  /** Streams only: how long the other side may be silent, and how long the body may wait for its reader. Default 15 s. */
  idleTimeoutMs?: number;
  /** Larger answers fail, streams at that byte. Default 10 MiB. */
  maxBytes?: number;
  /** Redirects followed; one more fails. 0: a redirect is an answer. Default 5. */
  redirects?: number;
  /** true: the body is read piece by piece. */
  stream?: boolean;
}

/** Nothing is decompressed: none is asked for, and what is compressed all the same comes as it is. */
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
   * Can be read once. Ends with an error when the other side is cut off or silent, when too much comes, and when the plugin
   * is withdrawn. Leaving a `for await` closes the connection.
   */
  readonly body: AsyncIterable<Buffer>;
}
