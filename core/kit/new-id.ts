// Makes ids that are unique and cannot be guessed.
import { randomUUID } from 'node:crypto';

/** 32 hexadecimal digits. */
export function newId(): string {
  return randomUUID().replaceAll('-', '');
}
