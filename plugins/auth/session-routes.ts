// The routes of logging in: status, login, refresh, verify, the first user, and switching authentication on and off.
import { type Host, Problem } from '#core';
import { findClientAddress, networkOf } from '#kit/client-address';
import type { Accounts } from './accounts.ts';
import { quoteActor, quoteForLog } from './quoted-name.ts';
import { ClientThrottle } from './throttle.ts';
import type { Tokens } from './token.ts';
import type { UserStore } from './user-store.ts';
import * as wire from './wire.ts';

export function registerSessionRoutes(host: Host, store: UserStore, accounts: Accounts, tokens: Tokens): void {
  const clientThrottle = new ClientThrottle();
  /** Counts a request and returns its client. Throws a Problem 429 when the client is above its rate. */
  const admit = (request: Parameters<typeof findClientAddress>[0]): string => {
    const trusted = host.find('config.store')?.get('dumb.api_service.trusted_proxies');
    const client = networkOf(findClientAddress(request, Array.isArray(trusted) ? trusted : []));
    clientThrottle.admit(client);
    return client;
  };

  host.route({
    method: 'GET',
    path: '/auth/status',
    access: 'public',
    summary: 'Whether callers must log in, and whether anybody can',
    response: wire.statusAnswer,
    handle() {
      const content = store.contentOrNull;
      const isUnreadable = content === null;
      return {
        enabled: isUnreadable || content.enabled,
        has_users: isUnreadable || content.users.length > 0,
        setup_skipped: !isUnreadable && !content.enabled && content.setup_skipped,
        mode: 'local',
        local_login_enabled: true,
        oidc_login_enabled: false,
        oidc_provider_name: '',
      };
    },
  });

  host.route({
    method: 'POST',
    path: '/auth/login',
    access: 'public',
    summary: 'Exchanges a user name and a password for tokens',
    body: wire.credentials,
    response: wire.tokenAnswer,
    async handle(request) {
      const client = admit(request);
      const { username, password } = request.body;
      try {
        const user = await accounts.logIn(username, password, client);
        host.log.info(`${quoteForLog(username)} logged in`);
        return wire.tokensToWire(tokens.issue(user));
      } catch (error) {
        if (error instanceof Problem) host.log.warn(`${quoteForLog(username)} was not logged in: ${error.message}`);
        throw error;
      }
    },
  });

  host.route({
    method: 'POST',
    path: '/auth/refresh',
    access: 'public',
    summary: 'Exchanges a refresh token for new tokens',
    changesNothing: true,
    body: wire.refreshBody,
    response: wire.tokenAnswer,
    async handle(request) {
      admit(request);
      await store.refresh();
      if (!store.content.enabled) throw new Problem(401, 'Authentication is not enabled');
      return wire.tokensToWire(tokens.issue(tokens.verify(request.body.refresh_token, 'refresh')));
    },
  });

  host.route({
    method: 'POST',
    path: '/auth/verify',
    access: 'public',
    summary: 'Whether an access token is good, and whose it is',
    changesNothing: true,
    query: wire.verifyQuery,
    body: wire.verifyBody,
    response: wire.verifyAnswer,
    handle(request) {
      admit(request);
      const token = request.query.token ?? request.body.token;
      if (token === undefined) {
        const errors = [{ loc: ['query', 'token'], msg: 'token is missing', type: 'invalid_type' }];
        throw new Problem(422, 'token is missing', { extra: { errors } });
      }
      try {
        if (!store.content.enabled) return { valid: false, username: null };
        return { valid: true, username: tokens.verify(token, 'access').username };
      } catch (error) {
        if (error instanceof Problem && error.status === 401) return { valid: false, username: null };
        throw error;
      }
    },
  });

  host.route({
    method: 'POST',
    path: '/auth/setup',
    access: 'public',
    summary: 'Creates the first user and enables authentication',
    body: wire.credentials,
    response: wire.tokenAnswer,
    async handle(request) {
      admit(request);
      const user = await accounts.setUp(request.body.username, request.body.password);
      host.log.info(`${quoteForLog(user.username)} is the first user; authentication is enabled`);
      return wire.tokensToWire(tokens.issue(user));
    },
  });

  host.route({
    method: 'POST',
    path: '/auth/skip-setup',
    access: 'public',
    summary: 'Goes on without users, until one is created',
    response: wire.messageAnswer,
    async handle() {
      await accounts.skipSetup();
      return { message: 'Setup was skipped; authentication stays disabled' };
    },
  });

  host.route({
    method: 'POST',
    path: '/auth/enable',
    summary: 'Callers must log in from now on',
    response: wire.messageAnswer,
    async handle({ identity }) {
      await accounts.enable();
      host.log.info(`authentication was enabled by ${quoteActor(identity)}`);
      return { message: 'Authentication is enabled' };
    },
  });

  host.route({
    method: 'POST',
    path: '/auth/disable',
    summary: 'Nobody needs to log in any more; users are kept',
    response: wire.messageAnswer,
    async handle({ identity }) {
      await accounts.disable();
      host.log.warn(`authentication was disabled by ${quoteActor(identity)}`);
      return { message: 'Authentication is disabled' };
    },
  });
}
