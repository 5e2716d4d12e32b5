// The error for a name that somebody else has, by which the host knows when it is worth another try.

export class NameTaken extends Error {
  override readonly name = 'NameTaken';
  /** The plugin that has the name; `core` for the host itself. */
  readonly by: string;

  /** `how` the name is had: owned, provided, contributed or registered. */
  constructor(what: string, how: string, by: string) {
    super(`${what} is already ${how} by ${by}`);
    this.by = by;
  }
}
