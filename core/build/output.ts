// Runs esbuild and writes its outputs into a build.
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
  // If two modules of the kit exported the same name, the bundle would have neither.
  logOverride: { 'ambiguous-reexport': 'error' },
  minifyWhitespace: true,
  // No tsconfig is read: modules are strict without one, and `npm run check` checks the types.
  tsconfigRaw: {},
  write: false,
};

/** The directories of the sources and of the build. */
export interface Directories {
  /** Directory of the sources. */
  readonly rootDir: string;
  readonly outDir: string;
}

/** Writes each output of esbuild with its source map. */
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
