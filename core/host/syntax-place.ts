// Finds the place of a syntax error in a plugin: Node tells it only when it checks a file without importing it.
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

/** The error itself, or for a syntax error whose stack has no place in the folder, one whose message has the place. */
export async function withPlace(error: unknown, { folder, indexFile }: PluginFolder): Promise<unknown> {
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
