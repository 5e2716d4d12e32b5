// Logins of accounts: created when first needed, kept for later messages, and renewed when they have expired.
import type { Delivery, DeliveryAnswer, DeliveryOutcome } from '../notifications/contract.ts';

export interface Account {
  /** Base URL of the server's client API. */
  readonly base: string;
  /** User name, or an access token if `password` is empty. */
  readonly user: string;
  readonly password: string;
  readonly host: string;
}

interface Login {
  readonly token: string;
  /** The server to which names of rooms belong that have none. */
  readonly home: string;
}

export interface Session extends Pick<Login, 'home'> {
  request(method: 'POST' | 'PUT', path: string, json: object): Promise<DeliveryAnswer>;
}

/** More than destinations can be configured; the others belong to former URLs. */
const MAX_LOGINS = 50;

export class Sessions {
  /** Logins by account, as JSON. */
  readonly #logins = new Map<string, Login>();

  /** The outcome of the answer of `act`, which is called a second time if the login had expired. */
  async post(
    account: Account,
    delivery: Delivery,
    act: (session: Session) => Promise<DeliveryAnswer>,
  ): Promise<DeliveryOutcome> {
    const key = JSON.stringify(account);
    for (;;) {
      const kept = this.#logins.get(key);
      const login = kept ?? (await logIn(account, delivery));
      if ('status' in login) return outcomeOf(login, delivery);
      if (account.password !== '') this.#keep(key, login);
      const answer = await act(sessionOf(account, login, delivery));
      if (answer.status === 401) this.#logins.delete(key);
      if (answer.status !== 401 || kept === undefined) return outcomeOf(answer, delivery, login.token);
    }
  }

  #keep(key: string, login: Login): void {
    if (this.#logins.size >= MAX_LOGINS) this.#logins.clear();
    this.#logins.set(key, login);
  }
}

/** The login, or the answer that refuses it. */
async function logIn({ base, user, password, host }: Account, delivery: Delivery): Promise<Login | DeliveryAnswer> {
  if (password === '') return { token: user, home: host };
  const answer = await delivery.request(`${base}/login`, {
    json: { type: 'm.login.password', identifier: { type: 'm.id.user', user }, password },
  });
  const { access_token: token, user_id: id } = answer.json;
  if (answer.status !== 200 || typeof token !== 'string') return answer;
  const [, home = host] = typeof id === 'string' ? (/^@[^:]*:(.+)$/.exec(id) ?? []) : [];
  return { token, home };
}

function sessionOf({ base }: Account, { token, home }: Login, delivery: Delivery): Session {
  const headers = { authorization: `Bearer ${token}` };
  return { home, request: (method, path, json) => delivery.request(base + path, { method, headers, json }) };
}

/** The token of a login is redacted here, because it is not part of the URL, whose secrets are redacted elsewhere. */
function outcomeOf(answer: DeliveryAnswer, delivery: Delivery, token = ''): DeliveryOutcome {
  const { error, retry_after_ms: retryAfterMs } = answer.json;
  const reason = typeof error === 'string' && token !== '' ? error.replaceAll(token, '[redacted]') : error;
  const retryAfterSec = typeof retryAfterMs === 'number' ? retryAfterMs / 1_000 : undefined;
  return delivery.outcome(answer, { statuses: [200], isOk: answer.json.event_id !== undefined, reason, retryAfterSec });
}
