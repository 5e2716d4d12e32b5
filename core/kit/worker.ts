// Starts modules as threads or programs in the same way from a build and from the TypeScript sources.
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { Worker, type WorkerOptions } from 'node:worker_threads';
import { lacksProcesses, withoutProcesses } from './process-limit.ts';

/**
 * Starts the file `name`, given without its extension, beside the module whose `import.meta.url` is `besideUrl`; it is
 * JavaScript in a build and TypeScript in the sources. A worker does not inherit a TypeScript loader, so the thread
 * registers one first where Node does not strip types itself. Throws a Problem 503 where no thread may be made.
 */
export function startWorker(name: string, besideUrl: string, options: WorkerOptions): Worker {
  try {
    return newWorker(name, besideUrl, options);
  } catch (error) {
    throw lacksProcesses(error) ? withoutProcesses('No thread can be started', error) : error;
  }
}

function newWorker(name: string, besideUrl: string, options: WorkerOptions): Worker {
  const { pathname } = new URL(besideUrl);
  const file = new URL(`${name}${path.extname(pathname)}`, besideUrl);
  if (file.pathname.endsWith('.js') || 'typescript' in process.features) return new Worker(file, options);
  const steps = `import(${JSON.stringify(import.meta.resolve('tsx/esm/api'))})
    .then(({ register }) => register())
    .then(() => import(${JSON.stringify(file.href)}))`;
  return new Worker(steps, { ...options, eval: true });
}

/**
 * The arguments with which Node runs the file `name`, given without its extension, beside the module whose
 * `import.meta.url` is `besideUrl`, as a program of its own. From the sources it preloads the modules that this process
 * preloaded.
 */
export function moduleArguments(name: string, besideUrl: string): string[] {
  const { pathname } = new URL(besideUrl);
  const file = fileURLToPath(new URL(`${name}${path.extname(pathname)}`, besideUrl));
  if (file.endsWith('.js')) return [file];
  if ('typescript' in process.features) {
    const imports = process.execArgv.filter(word => word.startsWith('--import='));
    // The program may start in another directory.
    return [...imports.map(word => word.replace(/^--import=(?=\.)/, `--import=${process.cwd()}/`)), file];
  }
  return ['--import', import.meta.resolve('tsx'), file];
}
