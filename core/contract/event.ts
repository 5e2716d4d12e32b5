// Events between plugins: the plugin that owns an event tells every listener what has happened, and waits for none.

/**
 * The data of each type of event, as plain data. Plugins add their types by declaration merging and declare them with
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
   * A name under which the plugin emits one event only while the host runs, even if the plugin is set up again: later
   * events with the same name are dropped.
   */
  readonly once?: string;
}

/** One row of `host.events()`. */
export interface EventListing extends EventDeclaration {
  readonly type: string;
  /** The plugin that declared the type, and alone emits it. */
  readonly plugin: string;
}
