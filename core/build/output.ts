// Writes what esbuild makes of sources into a build.
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { type BuildOptions, build, type OutputFile } from 'esbuild';

export const COMMON: BuildOptions = {
  bundle: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  // A text of ASCII alone takes half of the memory, and Node keeps the text of what it has loaded.
  charset: 'ascii',
  legalComments: 'inline',
  logLevel: 'silent',
  // Of two modules of the kit that export the same name the bundle would have neither.
  logOverride: { 'ambiguous-reexport': 'error' },
  minifyWhitespace: true,
  // All of it is modules, which are strict without a word, and `npm run check` has looked at the types.
  tsconfigRaw: {},
  write: false,
};

/** Where a build comes from, and where it comes to. */
export interface Directories {
  /** Directory of the sources. */
  readonly rootDir: string;
  readonly outDir: string;
}

/** Writes each file that is made with its source map. */
export async function run({ rootDir, outDir }: Directories, options: BuildOptions): Promise<void> {
  const shared = { ...COMMON, absWorkingDir: rootDir, sourcemap: true, sourcesContent: false } as const;
  const { outputFiles = [] } = await build({ ...shared, ...options });
  for (const file of outputFiles) {
    await mkdir(path.dirname(file.path), { recursive: true });
    await writeFile(file.path, file.path.endsWith('.map') ? placedMap(file, rootDir, outDir) : file.contents);
  }
}

/** Names the sources as if they lay in the build, at the same places as in the project. */
function placedMap({ path: file, text }: OutputFile, rootDir: string, outDir: string): string {
  const directory = path.dirname(file);
  const map = JSON.parse(text) as { sources: string[] };
  const sources = map.sources.map(source => {
    const inProject = path.relative(rootDir, path.resolve(directory, source));
    return path.relative(directory, path.join(outDir, inProject));
  });
  return JSON.stringify({ ...map, sources });
}
