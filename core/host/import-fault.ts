// Says more than Node does about why a plugin cannot be imported: the place of a syntax error, which Node tells only
// when it checks a file without importing it, and what stands for modules that only the product's own plugins can
// import.
import { spawn } from 'node:child_process';
import { createReadStream } from 'node:fs';
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { pipeline } from 'node:stream';
import { text } from 'node:stream/consumers';
import { helperEnvironment } from '../kit/helper-environment.ts';
import type { PluginFolder } from './discover.ts';
import { realFolder, sourcePlace } from './source-place.ts';

const MAX_FILES = 50;
const CHECK_MS = 10_000;
const ARGUMENTS = ['--input-type=module', '--check', '-'];

const OF_PRODUCT = /"(#(?:core|kit\/[^"]*))"/;

/** How Node refuses the first statement of a module that it takes for CommonJS. */
const OF_MODULES = /^(?:Unexpected token 'export'|Cannot use import statement outside a module)$/;

/** The error itself, or one whose message says more. */
export async function explained(error: unknown, found: PluginFolder): Promise<unknown> {
  return withAdvice(error) ?? ofCommonJs(error, found) ?? (await withPlace(error, found));
}

/** Only a syntax error in CommonJS has its place in the stack. */
function ofCommonJs(error: unknown, { folder }: PluginFolder): Error | undefined {
  if (!(error instanceof SyntaxError) || !OF_MODULES.test(error.message)) return undefined;
  if (sourcePlace(realFolder(folder), error) === null) return undefined;
  const reason = `${error.message}, because a package.json in or above its folder makes the file CommonJS`;
  return new Error(`${reason}; let the name of the file end in .mjs`, { cause: error });
}

function withAdvice(error: unknown): Error | undefined {
  if (!(error instanceof Error) || (error as NodeJS.ErrnoException).code !== 'ERR_PACKAGE_IMPORT_NOT_DEFINED')
    return undefined;
  const specifier = OF_PRODUCT.exec(error.message)?.[1];
  if (specifier === undefined) return undefined;
  const instead =
    specifier === '#core'
      ? "take types from 'stackwarden/plugin', and host.Problem and host.z when it runs"
      : 'write what it needs of it into its own folder';
  return new Error(`it imports '${specifier}', as only the product's own plugins can; ${instead}`, { cause: error });
}

/** For a syntax error whose stack has no place in the folder, one whose message has the place. */
async function withPlace(error: unknown, { folder, indexFile }: PluginFolder): Promise<unknown> {
  if (!(error instanceof SyntaxError) || sourcePlace(realFolder(folder), error) !== null) return error;
  const place = await syntaxPlace(folder, indexFile).catch(() => null);
  return place === null ? error : new Error(`${error.message} (${place})`, { cause: error });
}

/** `index.js:12`, relative to the folder; null when no file in it is found to be wrong. */
async function syntaxPlace(folder: string, indexFile: string): Promise<string | null> {
  const names = (await readdir(folder, { recursive: true })).filter(
    name => /\.m?js$/.test(name) && !name.includes('node_modules'),
  );
  const index = path.relative(folder, indexFile);
  for (const name of [index, ...names.filter(other => other !== index)].slice(0, MAX_FILES)) {
    const line = await faultyLine(path.join(folder, name));
    if (line !== undefined) return `${name}:${line}`;
  }
  return null;
}

async function faultyLine(file: string): Promise<string | undefined> {
  const child = spawn(process.execPath, ARGUMENTS, {
    env: helperEnvironment(),
    stdio: ['pipe', 'ignore', 'pipe'],
    timeout: CHECK_MS,
    killSignal: 'SIGKILL',
  });
  child.on('error', () => undefined);
  // The child may end before it has read the whole file.
  pipeline(createReadStream(file), child.stdin, () => undefined);
  return /^\[stdin\]:(\d+)$/m.exec(await text(child.stderr))?.[1];
}
