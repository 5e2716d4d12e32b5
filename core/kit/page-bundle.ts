// Bundles the page that a plugin shows in a browser: one script and one style sheet, each with everything that it
// imports.
import path from 'node:path';

export interface PageBundle {
  readonly script: Uint8Array;
  readonly style: Uint8Array;
}

/**
 * `folder` holds `main.ts` and `style.css`. Used by builds, and by hosts that run from the sources: a build holds the
 * bundle, and no bundler. Throws an Error that names what cannot be bundled.
 */
export async function bundlePage(folder: string): Promise<PageBundle> {
  const { build } = await import('esbuild');
  const { outputFiles } = await build({
    entryPoints: ['main.ts', 'style.css'].map(name => path.join(folder, name)),
    outdir: folder,
    write: false,
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    charset: 'utf8',
    legalComments: 'inline',
    logLevel: 'silent',
  });
  const contentsOf = (extension: string): Uint8Array => {
    const found = outputFiles.find(file => file.path.endsWith(extension));
    if (found === undefined) throw new Error(`${folder} gave no ${extension} file`);
    return found.contents;
  };
  return { script: contentsOf('.js'), style: contentsOf('.css') };
}
