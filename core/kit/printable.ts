// The form of names that are written into logs, files and the environment of processes.

/** One line of text without control characters, and not empty. */
export const PRINTABLE = /^[^\p{Cc}\p{Zl}\p{Zp}]+$/u;
