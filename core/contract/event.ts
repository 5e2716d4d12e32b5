// Events between plugins: an owner reports what has happened to every listener, and never waits for one.

/**
 * What each type of event carries, as plain data. Owners add theirs by declaration merging and declare them with
 * `host.event`.
 */
// biome-ignore lint/suspicious/noEmptyInterface: the core emits nothing itself
export interface Events {}

export type EventType = keyof Events;

/** One event as listeners receive it; frozen. */
export interface HostEvent<Type extends EventType = EventType> {
  readonly type: Type;
  /** Name of the plugin that emitted it. */
  readonly plugin: string;
  /** Unix seconds. */
  readonly at: number;
  readonly data: Readonly<Events[Type]>;
}

/** An event of any type; `type` tells what `data` is. */
export type AnyEvent = { [Type in EventType]: HostEvent<Type> }[EventType];

export interface EventDeclaration {
  /** One sentence that says when it is emitted. */
  readonly description: string;
}

export interface EmitOptions {
  /**
   * Events that their plugin emits under the same name are emitted once while the host runs, also when the plugin is
   * set up again: all but the first of them are dropped.
   */
  readonly once?: string;
}

/** One row of `host.events()`. */
export interface EventListing extends EventDeclaration {
  readonly type: string;
  /** The plugin that declared the type, and which alone emits it. */
  readonly plugin: string;
}
