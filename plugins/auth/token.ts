// Access and refresh tokens: signed with HS256 and bound to a user and the version of that user's credentials.
import { randomUUID } from 'node:crypto';
import jwt from 'jsonwebtoken';
import { z } from 'zod';
import { Problem } from '#core';
import type { StoredUser, UserStore } from './user-store.ts';

const S_PER_MINUTE = 60;
const S_PER_DAY = 86_400;
const LEEWAY_S = 5;

const claimsSchema = z.object({
  sub: z.string(),
  type: z.enum(['access', 'refresh']),
  ver: z.number().int().default(0),
});

export type TokenType = 'access' | 'refresh';

export class Tokens {
  readonly #store: UserStore;
  readonly #lifetimeS: Readonly<Record<TokenType, number>>;

  constructor(store: UserStore, env: NodeJS.ProcessEnv) {
    this.#store = store;
    this.#lifetimeS = {
      access: within(env.JWT_ACCESS_TOKEN_EXPIRE_MINUTES, 1, 1_440, 60) * S_PER_MINUTE,
      refresh: within(env.JWT_REFRESH_TOKEN_EXPIRE_DAYS, 1, 365, 30) * S_PER_DAY,
    };
  }

  issue(user: StoredUser): { readonly access: string; readonly refresh: string } {
    return { access: this.#sign(user, 'access'), refresh: this.#sign(user, 'refresh') };
  }

  /** The user that a token stands for. Throws a Problem 401 unless the token, its type and its user are good. */
  verify(token: string, type: TokenType): StoredUser {
    const claims = this.#claims(token);
    const user = claims?.type === type ? this.#store.find(claims.sub) : undefined;
    if (claims === null || user === undefined || user.disabled || user.token_version !== claims.ver) {
      throw new Problem(401, 'Invalid or expired token', { headers: { 'WWW-Authenticate': 'Bearer' } });
    }
    return user;
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

  #claims(token: string): z.output<typeof claimsSchema> | null {
    try {
      const options = { algorithms: ['HS256' as const], clockTolerance: LEEWAY_S };
      return claimsSchema.parse(jwt.verify(token, this.#store.signingKey, options));
    } catch {
      // Whatever is wrong with it, the caller learns only that it is not good.
      return null;
    }
  }
}

function within(text: string | undefined, min: number, max: number, fallback: number): number {
  const value = Number(text);
  return text === undefined || !Number.isInteger(value) || value < min || value > max ? fallback : value;
}
