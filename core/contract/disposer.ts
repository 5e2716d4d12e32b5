// The function that undoes something: whoever registers or opens a thing is given one, or gives one.

/** Undoes what a plugin did. Disposers run in the reverse order of their registration, each with a deadline of 5 s. */
export type Disposer = () => void | Promise<void>;
