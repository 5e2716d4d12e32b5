// The function that undoes something: a registration returns one, and a set-up hands one to the host.

/** Undoes what a plugin did. Disposers run in the reverse order of their registration, each with a deadline of 5 s. */
export type Disposer = () => void | Promise<void>;
