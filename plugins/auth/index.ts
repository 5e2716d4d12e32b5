// Authentication: the users in one file, their tokens, and the check of every protected route and stream.
import { definePlugin } from '#core';
import { usersFiles } from '#kit/host-state';
import { TokenCheck } from './access-check.ts';
import { Accounts } from './accounts.ts';
import type { AuthChange } from './contract.ts';
import { registerSessionRoutes } from './session-routes.ts';
import { LoginThrottle } from './throttle.ts';
import { Tokens } from './token.ts';
import { registerUserRoutes } from './user-routes.ts';
import { UserStore } from './user-store.ts';

/** Nothing announces that a token has expired, so the tokens of open streams are checked again at this interval. */
const STREAM_RECHECK_MS = 5_000;

export default definePlugin({
  name: 'auth',
  host: '^1',

  async setup(host) {
    const hook = host.hook('auth.changed', 'parallel');
    const onChange = (change: AuthChange): void => {
      check.notifyRevoked();
      void hook.promise(change);
    };
    const [file] = usersFiles(host.paths.configDir);
    const store = new UserStore(file, host.log, () => onChange({ kind: 'store-changed', username: null }));
    const tokens = new Tokens(store, process.env, host.log);
    const check: TokenCheck = new TokenCheck(store, tokens);
    await store.load();
    host.tap('config.review', ({ problems }) => {
      if (store.fault !== null) problems.push(store.fault);
    });

    host.provide('access', check);
    const accounts = new Accounts(store, new LoginThrottle(), host.log, onChange);
    registerSessionRoutes(host, store, accounts, tokens);
    registerUserRoutes(host, store, accounts);
    host.every(host.paced(STREAM_RECHECK_MS), () => check.notifyRevoked());
    return () => store.onIdle();
  },
});
