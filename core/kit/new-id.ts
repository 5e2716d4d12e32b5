// Ids that nobody has given before and nobody guesses.
import { randomUUID } from 'node:crypto';

/** 32 hexadecimal digits. */
export function newId(): string {
  return randomUUID().replaceAll('-', '');
}
