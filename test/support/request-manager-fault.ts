// What can go wrong with a call to a request manager.

export type ManagerFault =
  /** The connection stays open, and nothing is answered. */
  | { readonly kind: 'hang' }
  | { readonly kind: 'slow'; readonly ms: number }
  /** Something in front of the manager answers with text that is no JSON. */
  | { readonly kind: 'status'; readonly status: number }
  /** A proxy answers with its login page and the status 200. */
  | { readonly kind: 'html' }
  /** The manager acts, and half of its answer comes as if it were whole. */
  | { readonly kind: 'garbled' }
  | { readonly kind: 'busy'; readonly retryAfter?: string }
  /** The connection is cut before the manager sees the call, or in the middle of its answer. */
  | { readonly kind: 'reset'; readonly isActedOn: boolean }
  /** A redirect to the same path at another origin. */
  | { readonly kind: 'redirect'; readonly origin: string };
