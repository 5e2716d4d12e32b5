// The form of names that are written into logs, files and the environment of processes.

/**
 * One line of text in which something is to be seen: without control characters and halves of characters, and not only
 * of blanks and characters without a width. The characters that embed, override or isolate a direction are refused too,
 * because they turn the words that follow the name. Marks of a direction are not: they do no more than a letter does.
 */
export const PRINTABLE =
  /^(?!.*[\u202a-\u202e\u2066-\u2069])[\p{Zs}\p{Cf}\p{DI}]*[^\p{Cc}\p{Cs}\p{Z}\p{Cf}\p{DI}][^\p{Cc}\p{Cs}\p{Zl}\p{Zp}]*$/u;

/** What to say of a name that is not. */
export const PRINTABLE_WORDS =
  'it must be one line of visible text, without characters that control a terminal or the direction of text';

/** Longer names are no names, and the kernel refuses environments that hold a very long one. */
export const MAX_NAME_LENGTH = 1_000;
