// Reads one file of variables with the rights of the service's user, so that a link shows nothing that user cannot
// read.
import { Problem } from '#core';
import { runChild } from '#kit/fs-out-of-process';
import { variablesIn } from '#kit/variables-text';
import type { EnvFile } from './settings.ts';

const READ_MS = 10_000;
const MAX_BYTES = 256 * 1024;
const NAME = /^[A-Za-z_][\w.-]*$/;
/** Prints the file; ends with `IS_MISSING` when there is none. */
const SCRIPT = '[ -e "$1" ] || exit 66; exec head -c "$2" -- "$1"';
const IS_MISSING = 66;

/** The variables by name. Throws a Problem 400 when the file cannot be read or is no text. */
export async function readVariables(
  { path, required }: EnvFile,
  reader: { readonly uid?: number; readonly gid?: number },
  processName: string,
): Promise<ReadonlyMap<string, string>> {
  const refuse = (what: string, cause?: unknown): Problem =>
    new Problem(400, `${processName} cannot start: env_file ${path} ${what}`, { cause });
  const { code, output } = await runChild(
    'sh',
    ['-c', SCRIPT, 'sh', path, String(MAX_BYTES + 1)],
    READ_MS,
    reader,
  ).catch((error: unknown) => {
    throw refuse('does not answer; look after its mount', error);
  });
  if (code === IS_MISSING && !required) return new Map();
  const who = `user ${reader.uid ?? process.getuid?.()}`;
  if (code !== 0) throw refuse(`cannot be read by ${who}; create it, let that user read it, or correct the key`);
  if (Buffer.byteLength(output) > MAX_BYTES) throw refuse(`has more than ${MAX_BYTES} bytes; name another file`);
  if (output.includes('\0')) throw refuse('is no text; name another file');
  const variables = Object.entries(variablesIn(output)).flatMap(([name, value]) =>
    NAME.test(name) && value !== undefined ? [[name, value] as const] : [],
  );
  return new Map(variables);
}
