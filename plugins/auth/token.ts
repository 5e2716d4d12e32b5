// Access and refresh tokens: JWTs signed with HS256, valid for one user and one version of that user's credentials.
import { randomUUID } from 'node:crypto';
import jwt from 'jsonwebtoken';
import { z } from 'zod';
import { type Logger, Problem } from '#core';
import type { StoredUser, UserStore } from './user-store.ts';

const S_PER_MINUTE = 60;
const S_PER_DAY = 86_400;
/** No token is shorter, so most values in a query are recognized as no token without checking a signature. */
const MIN_LENGTH = 100;
const CLOCK_TOLERANCE_S = 5;

const claimsSchema = z.object({
  sub: z.string(),
  type: z.enum(['access', 'refresh']),
  /** Absent in tokens of earlier releases. A token of another provider is not accepted, even with the same key. */
  provider: z.literal('local').optional(),
  /** This host sets neither issuer nor audience: a token that has one is another program's, even with the same key. */
  iss: z.undefined().optional(),
  aud: z.undefined().optional(),
  /** The user's `token_version` at the time of issue. */
  ver: z.number().int().default(0),
  /** Required, because `jwt.verify` treats a token without it as one that never expires. */
  exp: z.number(),
});

export type TokenType = 'access' | 'refresh';

export class Tokens {
  readonly #store: UserStore;
  readonly #lifetimeS: Readonly<Record<TokenType, number>>;

  /** Lifetimes come from `env`; an invalid one is logged, and the default is used. */
  constructor(store: UserStore, env: NodeJS.ProcessEnv, log: Pick<Logger, 'warn'>) {
    this.#store = store;
    const read = (name: string, text: string | undefined, max: number, usual: number): number => {
      const value = Number(text);
      if (Number.isInteger(value) && value >= 1 && value <= max) return value;
      if ((text ?? '') !== '') log.warn(`${name} must be a whole number from 1 to ${max}, so ${usual} counts`);
      return usual;
    };
    this.#lifetimeS = {
      access: read('JWT_ACCESS_TOKEN_EXPIRE_MINUTES', env.JWT_ACCESS_TOKEN_EXPIRE_MINUTES, 1_440, 60) * S_PER_MINUTE,
      refresh: read('JWT_REFRESH_TOKEN_EXPIRE_DAYS', env.JWT_REFRESH_TOKEN_EXPIRE_DAYS, 365, 30) * S_PER_DAY,
    };
  }

  issue(user: StoredUser): { readonly access: string; readonly refresh: string } {
    return { access: this.#sign(user, 'access'), refresh: this.#sign(user, 'refresh') };
  }

  /**
   * The user to whom a token was issued. Throws a Problem 401 when it is forged, expired or of the other type, or when
   * its user is unknown or disabled or has new credentials.
   */
  verify(token: string, type: TokenType): StoredUser {
    const claims = this.#verifyClaims(token);
    const user = claims?.type === type ? this.#store.find(claims.sub) : undefined;
    if (claims === null || user === undefined || user.disabled || user.token_version !== claims.ver) {
      throw new Problem(401, 'Invalid or expired token', { headers: { 'WWW-Authenticate': 'Bearer' } });
    }
    return user;
  }

  /** Whether the token was signed here, even if it has expired since or its user is gone. */
  issued(token: string): boolean {
    return token.length >= MIN_LENGTH && this.#verifyClaims(token, { ignoreExpiration: true }) !== null;
  }

  #sign(user: StoredUser, type: TokenType): string {
    const claims = { type, provider: 'local', groups: [], ver: user.token_version };
    return jwt.sign(claims, this.#store.signingKey, {
      algorithm: 'HS256',
      subject: user.username,
      jwtid: randomUUID(),
      expiresIn: this.#lifetimeS[type],
    });
  }

  #verifyClaims(token: string, { ignoreExpiration = false } = {}): z.output<typeof claimsSchema> | null {
    try {
      const { header, payload } = jwt.verify(token, this.#store.signingKey, {
        algorithms: ['HS256'],
        clockTolerance: CLOCK_TOLERANCE_S,
        complete: true,
        ignoreExpiration,
      });
      // RFC 7515, section 4.1.11: whoever does not understand what `crit` names refuses the token.
      return header.crit === undefined ? claimsSchema.parse(payload) : null;
    } catch {
      // The caller must not learn what is wrong with a token, so every fault has the same result.
      return null;
    }
  }
}
