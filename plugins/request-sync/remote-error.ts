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
    return this.fault === 'network' || (this.status !== undefined && ABSENT.includes(this.status));
  }

  /** Whether the key, or whoever it stands for, was refused. */
  get isForbidden(): boolean {
    return this.status === 401 || this.status === 403;
  }
}

const REFUSED = ['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET'];
const TIMED_OUT = ['ETIMEDOUT', 'UND_ERR_CONNECT_TIMEOUT'];
const NAME = ['ENOTFOUND', 'EAI_AGAIN'];
const UNREACHABLE = ['EHOSTUNREACH', 'ENETUNREACH', 'EHOSTDOWN'];
const CERTIFICATE = /CERT|SELF_SIGNED|UNABLE_TO_(?:GET|VERIFY)|^ERR_(?:SSL|TLS)|EPROTO/;

/** What a failed exchange says of itself, in words that everybody knows. */
export function networkReason(error: unknown): string {
  for (let at: unknown = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth += 1) {
    const { code = '' } = at as NodeJS.ErrnoException;
    if (at.name === 'TimeoutError' || TIMED_OUT.includes(String(code))) return 'timeout: no answer came in time';
    if (code === 'ECONNREFUSED') return 'connection refused';
    if (REFUSED.includes(String(code))) return 'the connection was closed before the answer was whole';
    if (NAME.includes(String(code))) return 'name not found';
    if (UNREACHABLE.includes(String(code))) return 'the machine cannot be reached';
    if (CERTIFICATE.test(String(code))) return 'the certificate is not trusted';
  }
  return 'the exchange failed';
}
