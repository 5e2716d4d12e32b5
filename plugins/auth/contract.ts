// What the auth plugin tells others: who may do what has changed.
import type { AsyncParallelHook } from 'tapable';

export interface AuthChange {
  readonly kind: 'enabled' | 'disabled' | 'user-added' | 'user-changed' | 'user-removed' | 'store-changed';
  readonly username: string | null;
}

declare module '#core' {
  interface Hooks {
    /** After the user store holds the change. */
    'auth.changed': AsyncParallelHook<[AuthChange]>;
  }
}
