// The error of a call to a request manager, with a short reason that contains neither its address nor its key.

/** `network` means that no complete answer came, `answer` a refusal or an answer of another form than expected. */
export type RemoteFault = 'network' | 'answer';

/** The statuses by which proxies answer for a server that does not. */
const ABSENT = [502, 503, 504];

export class RemoteError extends Error {
  readonly fault: RemoteFault;
  /** The status of the HTTP answer; undefined without an answer. */
  readonly status: number | undefined;

  constructor(
    fault: RemoteFault,
    reason: string,
    options: { readonly status?: number; readonly cause?: unknown } = {},
  ) {
    super(reason, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'RemoteError';
    this.fault = fault;
    this.status = options.status;
  }

  /** Whether the request manager itself did not answer: there was no answer, or that of a proxy. */
  get isAbsence(): boolean {
    return this.fault === 'network' || (this.status !== undefined && isAbsent(this.status));
  }

  /** Whether the key, or the user that it belongs to, was refused. */
  get isForbidden(): boolean {
    return this.status === 401 || this.status === 403;
  }
}

/** Whether a proxy answered in place of the request manager. */
export function isAbsent(status: number): boolean {
  return ABSENT.includes(status);
}

const LATE = 'timeout: no answer came in time';
/** The reasons, by the error codes of the system and of the HTTP client. */
const REASONS: readonly (readonly [RegExp, string])[] = [
  [/^(?:ETIMEDOUT|UND_ERR_CONNECT_TIMEOUT)$/, LATE],
  [/^ECONNREFUSED$/, 'connection refused'],
  [/^(?:ECONNRESET|EPIPE|UND_ERR_SOCKET)$/, 'the connection was closed before the answer was whole'],
  [/^(?:ENOTFOUND|EAI_AGAIN)$/, 'name not found'],
  [/^(?:EHOSTUNREACH|ENETUNREACH|EHOSTDOWN)$/, 'the machine cannot be reached'],
  [/CERT|UNABLE_TO_(?:GET|VERIFY)/, 'the certificate is not trusted'],
  [/^EPROTO$|^ERR_SSL/, 'TLS failed; the port may speak http alone'],
];
const MAX_CAUSES = 5;
const MAX_ERROR_LENGTH = 300;

/** The reason of a failed exchange, in common words. */
export function networkReason(error: unknown): string {
  for (let at: unknown = error, depth = 0; at instanceof Error && depth < MAX_CAUSES; at = at.cause, depth += 1) {
    if (at.name === 'TimeoutError') return LATE;
    const { code } = at as NodeJS.ErrnoException;
    const [, reason] = REASONS.find(([pattern]) => pattern.test(String(code))) ?? [];
    if (reason !== undefined) return reason;
  }
  return 'the exchange failed';
}

/** The text for users: short, in one line, and without characters that cannot be shown. */
export function shortLine(text: string): string {
  return text
    .slice(0, MAX_ERROR_LENGTH)
    .replaceAll(/[\s\p{C}]+/gu, ' ')
    .trim();
}
