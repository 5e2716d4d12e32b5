// The routes that list, create, change and delete users.
import type { Host } from '#core';
import type { Accounts } from './accounts.ts';
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
    handle: async ({ body, identity }) =>
      wire.userToWire(await accounts.add(body.username, body.password, identity.username)),
  });

  host.route({
    method: 'PUT',
    path: '/auth/users/{username}',
    summary: 'Disables or enables a user, or sets a password; ends the tokens of that user',
    body: wire.changeBody,
    response: wire.userAnswer,
    async handle({ params, body: { disabled, password } }) {
      const change = {
        ...(disabled === undefined ? {} : { disabled }),
        ...(password === undefined ? {} : { password }),
      };
      return wire.userToWire(await accounts.change(params.username ?? '', change));
    },
  });

  host.route({
    method: 'DELETE',
    path: '/auth/users/{username}',
    summary: 'Deletes a user',
    response: wire.messageAnswer,
    async handle({ params, identity }) {
      await accounts.remove(params.username ?? '', identity.username);
      return { message: `${params.username} was deleted` };
    },
  });
}
