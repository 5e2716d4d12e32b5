// The schemas of what the authentication routes receive and answer, and the conversions to them.
import { z } from 'zod';
import type { StoredUser } from './user-store.ts';

export const credentials = z.object({ username: z.string(), password: z.string() });

export const statusAnswer = z.lazy(() =>
  z.object({
    enabled: z.boolean(),
    has_users: z.boolean(),
    setup_skipped: z.boolean(),
    mode: z.string(),
    local_login_enabled: z.boolean(),
    oidc_login_enabled: z.boolean(),
    oidc_provider_name: z.string(),
  }),
);

export const tokenAnswer = z.lazy(() =>
  z.object({
    access_token: z.string(),
    refresh_token: z.string(),
    token_type: z.literal('bearer'),
  }),
);

export const refreshBody = z.object({ refresh_token: z.string() });
export const verifyQuery = z.object({ token: z.string().optional() });
export const verifyBody = z.object({ token: z.string().optional() });
export const verifyAnswer = z.lazy(() => z.object({ valid: z.boolean(), username: z.string().nullable() }));
export const messageAnswer = z.object({ message: z.string() });
export const userAnswer = z.object({ username: z.string(), disabled: z.boolean() });
export const usersAnswer = z.object({ users: z.array(userAnswer) });

export const changeBody = z.lazy(() =>
  z
    .object({ disabled: z.boolean().optional(), password: z.string().optional() })
    .refine(({ disabled, password }) => disabled !== undefined || password !== undefined, {
      message: 'disabled or password is expected',
    }),
);

export function tokensToWire({ access, refresh }: { access: string; refresh: string }): z.input<typeof tokenAnswer> {
  return { access_token: access, refresh_token: refresh, token_type: 'bearer' };
}

export function userToWire({ username, disabled }: StoredUser): z.input<typeof userAnswer> {
  return { username, disabled };
}
