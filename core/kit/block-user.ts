// The user that a block names for its service.

type Members = Readonly<Record<string, unknown>>;

/** undefined: that of all services. `usual` is what its template has; a `user` there has a meaning of its own. */
export function blockUser({ user }: Members, usual: Members | undefined): string | undefined {
  if ((typeof user !== 'string' && typeof user !== 'number') || user === '') return undefined;
  return usual !== undefined && Object.hasOwn(usual, 'user') ? undefined : String(user);
}
