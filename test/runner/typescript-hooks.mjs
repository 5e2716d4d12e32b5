// The loader hook for TypeScript files. Compiled files are cached for all processes and runs.
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const rootDir = fileURLToPath(new URL('../..', import.meta.url));
const cacheDir = path.join(rootDir, 'node_modules', '.cache', 'stackwarden', 'typescript');

/**
 * Files are read synchronously: this thread does nothing else, and other reads make a detour over a second one.
 *
 * @type {import('node:module').LoadHook}
 */
export async function load(url, context, nextLoad) {
  // A module that is loaded anew has a query in its URL.
  if (!/^file:.*\.ts(?:\?|$)/.test(url)) return nextLoad(url, context);
  const file = fileURLToPath(url);
  const source = readFileSync(file, 'utf8');
  return { format: 'module', shortCircuit: true, source: await compiled(file, source) };
}

/** The cached file is named after the path of the source; its last line is the hash of the source. */
async function compiled(file, source) {
  const relative = path.relative(rootDir, file);
  if (relative.startsWith('..')) return compile(file, source);
  const kept = path.join(cacheDir, `${relative.replaceAll(path.sep, '+')}.js`);
  const mark = `\n// ${createHash('sha256').update(source).digest('hex')}\n`;
  const found = read(kept);
  if (found.endsWith(mark)) return found;
  const text = `${await compile(file, source)}${mark}`;
  keep(kept, text);
  return text;
}

function read(kept) {
  try {
    return readFileSync(kept, 'utf8');
  } catch {
    return '';
  }
}

async function compile(file, source) {
  const { transform } = await import('esbuild');
  const { code } = await transform(source, {
    loader: 'ts',
    format: 'esm',
    target: 'node20',
    sourcemap: 'inline',
    sourcefile: file,
  });
  return code;
}

/** Processes of other users can read the cache, but not write it. */
function keep(kept, text) {
  try {
    mkdirSync(cacheDir, { recursive: true });
    writeFileSync(`${kept}.${process.pid}`, text);
    renameSync(`${kept}.${process.pid}`, kept);
  } catch {
    // The cache is optional: the next process compiles the file again.
  }
}
