// What Node's loader asks for files of TypeScript: the answer is compiled once for all processes and runs.
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const rootDir = fileURLToPath(new URL('../..', import.meta.url));
const cacheDir = path.join(rootDir, 'node_modules', '.cache', 'stackwarden', 'typescript');

/**
 * Files are read without waiting, since nothing else happens in this thread: each wait is a detour over another one.
 *
 * @type {import('node:module').LoadHook}
 */
export async function load(url, context, nextLoad) {
  // A module that is loaded anew has a query.
  if (!/^file:.*\.ts(?:\?|$)/.test(url)) return nextLoad(url, context);
  const file = fileURLToPath(url);
  const source = readFileSync(file, 'utf8');
  return { format: 'module', shortCircuit: true, source: await compiled(file, source) };
}

/** Kept by the file's place; the last line says of which text. */
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

/** Other users' processes read what is kept and cannot write it. */
function keep(kept, text) {
  try {
    mkdirSync(cacheDir, { recursive: true });
    writeFileSync(`${kept}.${process.pid}`, text);
    renameSync(`${kept}.${process.pid}`, kept);
  } catch {
    // The next process compiles it again.
  }
}
