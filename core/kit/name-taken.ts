// The error for a name that another plugin has; it names that plugin, so that the host knows when to try again.

export class NameTaken extends Error {
  override readonly name = 'NameTaken';
  /** The plugin that has the name; `core` for the host itself. */
  readonly by: string;

  /** `how` is the way in which the plugin has the name: owned, provided, contributed or registered. */
  constructor(what: string, how: string, by: string) {
    super(`${what} is already ${how} by ${by}`);
    this.by = by;
  }
}
