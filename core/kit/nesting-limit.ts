// How deep a text or a value from outside may nest.

/** Objects and lists that may stand in each other. */
export const MAX_NESTING = 100;
