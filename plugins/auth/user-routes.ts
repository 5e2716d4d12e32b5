// The routes that list, create, change and delete users.
import type { Host } from '#core';
import type { Accounts } from './accounts.ts';
import { quoteActor, quoteForLog } from './quoted-name.ts';
import type { UserStore } from './user-store.ts';
import * as wire from './wire.ts';

export function registerUserRoutes(host: Host, store: UserStore, accounts: Accounts): void {
  host.route({
    method: 'GET',
    path: '/auth/users',
    summary: 'All users, in the order of their creation',
    response: wire.usersAnswer,
    handle: () => ({ users: store.content.users.map(wire.userToWire) }),
  });

  host.route({
    method: 'POST',
    path: '/auth/users',
    summary: 'Creates a user; the first one enables authentication',
    body: wire.credentials,
    response: wire.userAnswer,
    async handle({ body, identity }) {
      const user = await accounts.add(body.username, body.password, identity.username);
      // Only the first user is created without a login and leaves authentication enabled.
      const enables = identity.username === null && store.content.enabled ? '; authentication is enabled' : '';
      host.log.info(`user ${quoteForLog(user.username)} was created by ${quoteActor(identity)}${enables}`);
      return wire.userToWire(user);
    },
  });

  host.route({
    method: 'PUT',
    path: '/auth/users/{username}',
    summary: 'Disables or enables a user, or sets a password; ends the tokens of that user',
    body: wire.changeBody,
    response: wire.userAnswer,
    async handle({ params, identity, body: { disabled, password } }) {
      const change = {
        ...(disabled === undefined ? {} : { disabled }),
        ...(password === undefined ? {} : { password }),
      };
      const user = await accounts.change(params.username ?? '', change);
      const changes = [
        ...(disabled === undefined ? [] : [disabled ? 'was disabled' : 'was enabled']),
        ...(password === undefined ? [] : ['got a new password']),
      ];
      host.log.info(`user ${quoteForLog(user.username)} ${changes.join(' and ')}, by ${quoteActor(identity)}`);
      return wire.userToWire(user);
    },
  });

  host.route({
    method: 'DELETE',
    path: '/auth/users/{username}',
    summary: 'Deletes a user',
    response: wire.messageAnswer,
    async handle({ params, identity }) {
      const username = params.username ?? '';
      await accounts.remove(username, identity.username);
      host.log.info(`user ${quoteForLog(username)} was deleted by ${quoteActor(identity)}`);
      return { message: `${params.username} was deleted` };
    },
  });
}
