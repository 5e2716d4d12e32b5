// What a user name and a password must be like. Each rule is told in its own words.
import { Problem } from '#core';

const NAME_LENGTH = { min: 3, max: 64 };
const PASSWORD_LENGTH = { min: 8, max: 256 };

/** Names stand in addresses, so what addresses treat specially is not for them. Throws a Problem 400. */
export function checkUserName(name: string): void {
  const length = [...name].length;
  if (length < NAME_LENGTH.min || length > NAME_LENGTH.max) {
    throw new Problem(400, `A user name has ${NAME_LENGTH.min} to ${NAME_LENGTH.max} characters`);
  }
  if (/[\p{Cc}/?#%\\]/u.test(name)) {
    throw new Problem(400, 'A user name has no control characters and none of / ? # % \\');
  }
  if (name !== name.trim()) throw new Problem(400, 'A user name neither begins nor ends with a space');
}

/** Throws a Problem 400. */
export function checkPassword(password: string): void {
  const length = [...password].length;
  if (length < PASSWORD_LENGTH.min || length > PASSWORD_LENGTH.max) {
    throw new Problem(400, `A password has ${PASSWORD_LENGTH.min} to ${PASSWORD_LENGTH.max} characters`);
  }
}
