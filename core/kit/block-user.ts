// The user that a block names for its service.

type Members = Readonly<Record<string, unknown>>;

/**
 * The user; undefined when the service runs as all services do. `usual` are the members of the block's template: where
 * the template has a `user`, that member means something else.
 */
export function blockUser({ user }: Members, usual: Members | undefined): string | undefined {
  if ((typeof user !== 'string' && typeof user !== 'number') || user === '') return undefined;
  return usual !== undefined && Object.hasOwn(usual, 'user') ? undefined : String(user);
}
