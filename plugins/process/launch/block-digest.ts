// A digest that differs between different configuration blocks.
import { createHash } from 'node:crypto';
import type { NamedBlock } from '#core';

export function digestOf(block: NamedBlock['block']): string {
  return createHash('sha256').update(JSON.stringify(block)).digest('hex').slice(0, 16);
}
