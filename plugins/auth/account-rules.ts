// The rules for user names and passwords; each rule that is broken has its own message.
import { Problem } from '#core';
import { PRINTABLE } from '#kit/printable';

const USER_NAME_LENGTH = { min: 3, max: 64 };
const PASSWORD_LENGTH = { min: 8, max: 256 };

/**
 * A user name is a segment of route paths, so characters that are special in URLs are refused. Throws a Problem 400.
 */
export function checkUserName(name: string): void {
  const length = [...name].length;
  if (length < USER_NAME_LENGTH.min || length > USER_NAME_LENGTH.max) {
    throw new Problem(400, `A user name has ${USER_NAME_LENGTH.min} to ${USER_NAME_LENGTH.max} characters`);
  }
  if (/[\p{Cc}/?#%\\]/u.test(name)) {
    throw new Problem(400, 'A user name has no control characters and none of / ? # % \\');
  }
  if (/\p{Cs}/u.test(name))
    throw new Problem(400, 'A user name has whole characters only; one of these is half of one');
  if (!PRINTABLE.test(name)) throw new Problem(400, 'A user name is one line of visible text; choose another one');
  if (name !== name.trim()) throw new Problem(400, 'A user name neither begins nor ends with a space');
}

/** Throws a Problem 400 when the password is too short or too long. */
export function checkPassword(password: string): void {
  const length = [...password].length;
  if (length < PASSWORD_LENGTH.min || length > PASSWORD_LENGTH.max) {
    throw new Problem(400, `A password has ${PASSWORD_LENGTH.min} to ${PASSWORD_LENGTH.max} characters`);
  }
}
