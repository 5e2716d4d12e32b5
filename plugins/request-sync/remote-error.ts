// Why a request manager did not do what it was asked, in few words and without its address or key.

/** `network`: no whole answer came. `answer`: it answered with a refusal, or with something else than was asked for. */
export type RemoteFault = 'network' | 'answer';

/** What proxies answer for a server that does not. */
const ABSENT = [502, 503, 504];

export class RemoteError extends Error {
  readonly fault: RemoteFault;
  /** Of the HTTP answer; undefined where none came. */
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

  /** Whether nobody answered, or a proxy in place of the request manager. */
  get isAbsence(): boolean {
    return this.fault === 'network' || (this.status !== undefined && isAbsent(this.status));
  }

  /** Whether the key, or whoever it stands for, was refused. */
  get isForbidden(): boolean {
    return this.status === 401 || this.status === 403;
  }
}

/** Whether a proxy answered in place of the request manager. */
export function isAbsent(status: number): boolean {
  return ABSENT.includes(status);
}

const LATE = 'timeout: no answer came in time';
/** By the code of an error, from the system or from the client. */
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

/** What a failed exchange says of itself, in words that everybody knows. */
export function networkReason(error: unknown): string {
  for (let at: unknown = error, depth = 0; at instanceof Error && depth < MAX_CAUSES; at = at.cause, depth += 1) {
    if (at.name === 'TimeoutError') return LATE;
    const { code } = at as NodeJS.ErrnoException;
    const [, reason] = REASONS.find(([pattern]) => pattern.test(String(code))) ?? [];
    if (reason !== undefined) return reason;
  }
  return 'the exchange failed';
}

/** Of what is told to people: short, and without signs that cannot be shown. */
export function shortLine(text: string): string {
  return text
    .slice(0, MAX_ERROR_LENGTH)
    .replaceAll(/[\s\p{C}]+/gu, ' ')
    .trim();
}
