// Routes of a session: status, login, refresh, verify, the first user, and the switch.
import { type Host, Problem } from '#core';
import type { Accounts } from './accounts.ts';
import { PeerThrottle, peerOf } from './throttle.ts';
import type { Tokens } from './token.ts';
import type { UserStore } from './user-store.ts';
import * as wire from './wire.ts';

export function registerSessionRoutes(host: Host, store: UserStore, accounts: Accounts, tokens: Tokens): void {
  const peers = new PeerThrottle();
  const admit = (request: Parameters<typeof peerOf>[0]): void => {
    const trusted = host.find('config.store')?.get('dumb.api_service.trusted_proxies');
    peers.admit(peerOf(request, Array.isArray(trusted) ? trusted : []));
  };

  host.route({
    method: 'GET',
    path: '/auth/status',
    access: 'public',
    summary: 'Whether callers must log in, and whether anybody can',
    response: wire.statusAnswer,
    handle() {
      const { content } = store;
      const isClosed = content === null;
      return {
        enabled: isClosed || content.enabled,
        has_users: isClosed || content.users.length > 0,
        setup_skipped: !isClosed && !content.enabled && content.setup_skipped,
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
      admit(request);
      const { username, password } = request.body;
      try {
        const user = await accounts.logIn(username, password);
        host.log.info(`${printable(username)} logged in`);
        return wire.tokensToWire(tokens.issue(user));
      } catch (error) {
        if (error instanceof Problem) host.log.warn(`${printable(username)} was not logged in: ${error.message}`);
        throw error;
      }
    },
  });

  host.route({
    method: 'POST',
    path: '/auth/refresh',
    access: 'public',
    summary: 'Exchanges a refresh token for new tokens',
    body: wire.refreshBody,
    response: wire.tokenAnswer,
    async handle(request) {
      admit(request);
      await store.refresh();
      if (!store.known.enabled) throw new Problem(401, 'Authentication is not enabled');
      return wire.tokensToWire(tokens.issue(tokens.verify(request.body.refresh_token, 'refresh')));
    },
  });

  host.route({
    method: 'POST',
    path: '/auth/verify',
    access: 'public',
    summary: 'Whether an access token is good, and whose it is',
    query: wire.verifyQuery,
    body: wire.verifyBody,
    response: wire.verifyAnswer,
    handle(request) {
      admit(request);
      const token = request.query.token ?? request.body.token;
      if (token === undefined) throw new Problem(422, 'token is missing');
      try {
        if (!store.known.enabled) return { valid: false, username: null };
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
      host.log.info(`${printable(user.username)} is the first user; authentication is enabled`);
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
      host.log.info(`authentication was enabled by ${printable(identity.username ?? 'somebody')}`);
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
      host.log.warn(`authentication was disabled by ${printable(identity.username ?? 'somebody')}`);
      return { message: 'Authentication is disabled' };
    },
  });
}

/** Names come from anybody who can reach the login, so only so much of them goes into the log. */
function printable(username: string): string {
  return `'${username.replaceAll(/\p{Cc}/gu, '?').slice(0, 64)}'`;
}
