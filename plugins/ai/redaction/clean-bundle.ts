// Masks secrets in a whole bundle, which may be so large that a thread does it.
import { readText } from '#kit/text-thread';
import { redactText } from './secret-text.ts';
import { redactValue } from './secret-value.ts';

/** Parts of a bundle in which places in the file system are masked as well. */
const HIDES_PATHS = new Set(['database_health', 'native_diagnostics']);

/** A copy without secrets. `known` are values that are secret wherever they stand. */
export async function cleanBundle(
  bundle: Readonly<Record<string, unknown>>,
  known: readonly string[],
): Promise<Record<string, unknown>> {
  return readText(import.meta.url, cleanBundleText, JSON.stringify(bundle), known);
}

/** The same for a text that leaves the host. */
export async function cleanText(text: string, known: readonly string[]): Promise<string> {
  return readText(import.meta.url, cleanWholeText, text, known);
}

export function cleanBundleText(json: string, known: readonly string[]): Record<string, unknown> {
  const bundle = JSON.parse(json) as Record<string, unknown>;
  return Object.fromEntries(
    Object.entries(bundle).map(([name, value]) => [
      redactText(name, known),
      redactValue(value, { known, hidePaths: HIDES_PATHS.has(name) }),
    ]),
  );
}

export function cleanWholeText(text: string, known: readonly string[]): string {
  return redactText(text, known);
}
