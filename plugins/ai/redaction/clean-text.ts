// Masks secrets in a text that leaves the host. For a long text a thread does it.
import { readText } from '#kit/text-thread';
import { redactText } from './secret-text.ts';

export async function cleanText(text: string, known: readonly string[]): Promise<string> {
  return readText(import.meta.url, cleanWholeText, text, known);
}

/** @public The thread for large texts calls it by its name. */
export function cleanWholeText(text: string, known: readonly string[]): string {
  return redactText(text, known);
}
