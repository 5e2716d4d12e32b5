// The hook by which the auth plugin announces that accounts, or the authentication switch, have changed.
import type { AsyncParallelHook } from 'tapable';

export interface AuthChange {
  /** `store-changed`: the user file was edited by a user or another program while the host was running. */
  readonly kind: 'enabled' | 'disabled' | 'user-added' | 'user-changed' | 'user-removed' | 'store-changed';
  /** null when the change does not concern one particular user. */
  readonly username: string | null;
}

declare module '#core' {
  interface Hooks {
    /** Runs after the user store holds the change. */
    'auth.changed': AsyncParallelHook<[AuthChange]>;
  }
}
