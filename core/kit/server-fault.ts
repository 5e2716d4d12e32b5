// The Problems for requests to other servers that failed: each names the host, what it answered, and what to do.
import { Problem } from '../contract/problem.ts';
import { clockTime } from './clock-time.ts';
import { errorText } from './error-text.ts';

/** How deep causes are searched. */
const MAX_CAUSES = 6;
const LATE = ['UND_ERR_CONNECT_TIMEOUT', 'ETIMEDOUT', 'TimeoutError'];
/**
 * The longest wait that is believed: servers limit requests per hour or day, so a longer wait is an error of a clock.
 */
const MAX_PEACE_S = 24 * 3_600;
const UNTRUSTED = /CERT|SELF_SIGNED|UNABLE_TO_VERIFY/;

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

/**
 * The Problem for an answer with an error status. `what` names what was asked for, as in `the list of releases`. The
 * Problem has the status 502, because another try may help.
 */
export function statusFault(url: string | URL, { status, headers }: Answer, what: string): Problem {
  const { host } = new URL(url);
  const until = allowedAgain(status, headers);
  if (until !== undefined)
    return new Problem(502, `${host} allows no more requests at present (${status}); try again ${until}`);
  if (status === 404 || status === 410)
    return new Problem(502, `${host} does not have ${what} (${status}); check what is selected, or try again later`);
  if (status === 401 || status === 403)
    return new Problem(502, `${host} refused ${what} (${status}); check that this machine may use it, and its proxy`);
  return new Problem(502, `${host} answered ${status} when asked for ${what}; try again later`);
}

/** The Problem for an error in place of a whole answer: 504 when the answer was late, else 502. */
export function networkFault(url: string | URL, error: unknown): Problem {
  if (error instanceof Problem) return error;
  const { host } = new URL(url);
  const code = codeOf(error);
  if (code !== undefined && LATE.includes(code))
    return new Problem(504, `${host} did not answer in time; check the network, or try again later`, { cause: error });
  const isUntrusted = code !== undefined && UNTRUSTED.test(code);
  const help = isUntrusted
    ? 'its certificate is not trusted; give its authority by NODE_EXTRA_CA_CERTS, or correct the clock'
    : 'check the network, its proxy and the names of hosts';
  return new Problem(502, `${host} cannot be asked (${code ?? errorText(error)}); ${help}`, { cause: error });
}

/** When a server that limits requests answers again; undefined for any other refusal. */
function allowedAgain(status: number, headers: Answer['headers']): string | undefined {
  const isUsedUp = status === 429 || (status === 403 && headers['x-ratelimit-remaining'] === '0');
  const after = String(headers['retry-after'] ?? '');
  if (!isUsedUp && !(status === 403 && after !== '')) return undefined;
  const nowS = Date.now() / 1000;
  const reset = String(headers['x-ratelimit-reset'] ?? '');
  const atS = /^\d+$/.test(after) ? nowS + Number(after) : /^\d+$/.test(reset) ? Number(reset) : Number.NaN;
  return atS - nowS <= MAX_PEACE_S ? `after ${clockTime(atS * 1000)}` : 'in an hour';
}

/** The code, or the name, of the error or of the innermost cause that has one. */
function codeOf(error: unknown, depth = 0): string | undefined {
  if (typeof error !== 'object' || error === null || depth > MAX_CAUSES) return undefined;
  const { code, name, cause, errors } = error as { code?: unknown; name?: unknown; cause?: unknown; errors?: unknown };
  const [first] = Array.isArray(errors) ? errors : [];
  const inner = codeOf(cause ?? first, depth + 1);
  if (inner !== undefined) return inner;
  return name === 'TimeoutError' ? name : typeof code === 'string' ? code : undefined;
}
