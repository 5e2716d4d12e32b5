// Masks secrets in a whole bundle and makes it fit its limit of size. For a large bundle a thread does both.
import { readText } from '#kit/text-thread';
import { turnWithTime } from '#kit/turns';
import { redactText } from '../redaction/secret-text.ts';
import { redactValue } from '../redaction/secret-value.ts';
import { fitBundle } from './size-limit.ts';

/** Members of a bundle in which paths of the file system are masked as well. */
const HIDES_PATHS = new Set(['database_health', 'native_diagnostics']);

interface CleanOptions {
  /** Values to mask wherever they occur. */
  readonly known: readonly string[];
  /** Limit of the bundle's JSON text. */
  readonly maxChars: number;
}

/** A copy without secrets, made smaller until it fits. */
export async function cleanBundle(
  bundle: Readonly<Record<string, unknown>>,
  options: CleanOptions,
): Promise<Record<string, unknown>> {
  const members: string[] = [];
  // Making the text of all members at once would block the event loop.
  for (const [name, value] of Object.entries(bundle)) {
    await turnWithTime();
    const text = JSON.stringify(value);
    if (text !== undefined) members.push(`${JSON.stringify(name)}:${text}`);
  }
  const clean = await readText(import.meta.url, cleanBundleText, `{${members.join(',')}}`, options);
  await turnWithTime();
  return clean;
}

/** @public The thread for large texts calls it by its name. */
export function cleanBundleText(json: string, { known, maxChars }: CleanOptions): Record<string, unknown> {
  const bundle = JSON.parse(json) as Record<string, unknown>;
  const clean = Object.fromEntries(
    Object.entries(bundle).map(([name, value]) => [
      redactText(name, known),
      redactValue(value, { known, hidePaths: HIDES_PATHS.has(name) }),
    ]),
  );
  return fitBundle(clean, maxChars);
}
