// What can go wrong with a call to a request manager.

export type ManagerFault =
  /** The connection stays open, and nothing is answered. */
  | { readonly kind: 'hang' }
  | { readonly kind: 'slow'; readonly ms: number }
  /** Something before the manager answers, with a text that is no JSON. */
  | { readonly kind: 'status'; readonly status: number }
  /** The login page of a proxy, as a success. */
  | { readonly kind: 'html' }
  /** The manager acts, and half of its answer comes as if it were all. */
  | { readonly kind: 'garbled' }
  | { readonly kind: 'busy'; readonly retryAfter?: string }
  /** The connection is cut before the manager has seen the call, or in the middle of its answer. */
  | { readonly kind: 'reset'; readonly isActedOn: boolean }
  /** To the same path at another origin. */
  | { readonly kind: 'redirect'; readonly origin: string };
