// Worker threads that start alike from a build and from the sources.
import path from 'node:path';
import { Worker, type WorkerOptions } from 'node:worker_threads';

/**
 * Starts the file `name` (without its extension) that lies beside the module whose `import.meta.url` is given: in a build
 * it is JavaScript, in the sources TypeScript. A worker does not inherit a TypeScript loader, so where Node has none of
 * its own the thread registers one first.
 */
export function startWorker(name: string, besideUrl: string, options: WorkerOptions): Worker {
  const { pathname } = new URL(besideUrl);
  const file = new URL(`${name}${path.extname(pathname)}`, besideUrl);
  if (file.pathname.endsWith('.js') || 'typescript' in process.features) return new Worker(file, options);
  const steps = `import(${JSON.stringify(import.meta.resolve('tsx/esm/api'))})
    .then(({ register }) => register())
    .then(() => import(${JSON.stringify(file.href)}))`;
  return new Worker(steps, { ...options, eval: true });
}
