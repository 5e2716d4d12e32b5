// Loaded into every test file's process, and from there into its threads and the programs that it runs from the sources.
import { isMainThread } from 'node:worker_threads';

if (isMainThread && process.argv[1]?.endsWith('.test.ts')) {
  // What every file needs comes before TypeScript, because from then on each import is asked of the loader's own thread.
  const { default: t } = await import('tap');
  await Promise.all([import('zod'), import('undici'), import('ws'), import('chokidar')]);
  // For a file that is run alone: the runner gives its own limit. A slow machine needs more than tap's 30 s.
  if (process.env.TAP_TIMEOUT === undefined) t.setTimeout(600_000);
}
await import('./typescript.mjs');
