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

export function cleanBundleText(json: string, known: readonly string[]): Record<string, unknown> {
  const bundle = JSON.parse(json) as Record<string, unknown>;
  return Object.fromEntries(
    Object.entries(bundle).map(([name, value]) => [
      redactText(name, known),
      redactValue(value, { known, hidePaths: HIDES_PATHS.has(name) }),
    ]),
  );
}
