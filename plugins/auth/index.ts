// Authentication: users in one file, tokens, and the answer to who may use a protected route or stream.
import path from 'node:path';
import { definePlugin } from '#core';
import { TokenCheck } from './access-check.ts';
import { Accounts } from './accounts.ts';
import type { AuthChange } from './contract.ts';
import { registerSessionRoutes } from './session-routes.ts';
import { NameThrottle } from './throttle.ts';
import { Tokens } from './token.ts';
import { registerUserRoutes } from './user-routes.ts';
import { UserStore } from './user-store.ts';

/** How soon a stream ends whose token expired. */
const RECHECK_MS = 5_000;

export default definePlugin({
  name: 'auth',
  host: '^1',

  async setup(host) {
    const hook = host.hook('auth.changed', 'parallel');
    const changed = (change: AuthChange): void => {
      check.revoke();
      void hook.promise(change);
    };
    const file = process.env.DUMB_AUTH_CONFIG_PATH || path.join(host.paths.configDir, 'users.json');
    const store = new UserStore(file, host.log, () => changed({ kind: 'store-changed', username: null }));
    const tokens = new Tokens(store, process.env);
    const check: TokenCheck = new TokenCheck(store, tokens);
    await store.load();

    host.provide('access', check);
    const accounts = new Accounts(store, new NameThrottle(), changed);
    registerSessionRoutes(host, store, accounts, tokens);
    registerUserRoutes(host, store, accounts);
    host.every(host.paced(RECHECK_MS), () => check.revoke());
  },
});
