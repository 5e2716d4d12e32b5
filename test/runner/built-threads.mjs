// Lets threads and programs of the product start from the build. From the sources, each of them would load a TypeScript
// loader first, which takes longer than most tests need them for.
import childProcess from 'node:child_process';
import { existsSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import workerThreads from 'node:worker_threads';

const rootDir = fileURLToPath(new URL('../..', import.meta.url));
const SOURCE = /\.ts$/;

/** @param {string} buildDir */
export function startFromBuild(buildDir) {
  const { Worker } = workerThreads;
  const { spawn } = childProcess;

  /** @param {string} file */
  function built(file) {
    const relative = path.relative(rootDir, file).replace(SOURCE, '.js');
    const place = path.join(buildDir, relative);
    const isProduct = SOURCE.test(file) && /^(?:core|plugins)\//.test(relative);
    return isProduct && existsSync(place) ? place : undefined;
  }

  /**
   * TypeScript modules in the data of a thread, replaced by those of the build; undefined when one of them is a test's
   * own. A test's own JavaScript stays in the data, because a thread of the build can load it.
   */
  function builtModules(data) {
    const isSource = value => typeof value === 'string' && value.startsWith('file:') && SOURCE.test(value);
    const named = Object.entries(data ?? {}).filter(([, value]) => isSource(value));
    const found = named.map(([name, url]) => [name, built(fileURLToPath(url))]);
    if (found.some(([, place]) => place === undefined)) return undefined;
    return Object.fromEntries(found.map(([name, place]) => [name, pathToFileURL(place).href]));
  }

  workerThreads.Worker = class extends Worker {
    #isBuilt;

    constructor(file, options = {}) {
      const place = file instanceof URL ? built(fileURLToPath(file)) : undefined;
      const { workerData: data } = options;
      const modules = builtModules(data);
      const workerData = Object.keys(modules ?? {}).length === 0 ? data : { ...data, ...modules };
      if (place === undefined || modules === undefined) super(file, options);
      else super(place, { ...options, workerData, execArgv: [] });
      this.#isBuilt = place !== undefined && modules !== undefined;
    }

    /** The thread for texts gets the module that reads a text in a message. */
    postMessage(message, ...rest) {
      const { moduleUrl } = message ?? {};
      const modules = this.#isBuilt && moduleUrl !== undefined ? builtModules({ moduleUrl }) : undefined;
      super.postMessage(modules === undefined ? message : { ...message, ...modules }, ...rest);
    }
  };

  childProcess.spawn = (command, args, ...rest) => {
    const at = Array.isArray(args) ? args.findIndex(word => built(word) !== undefined) : -1;
    if (command !== process.execPath || at < 0) return spawn(command, args, ...rest);
    const before = args.slice(0, at).filter(word => !word.startsWith('--import='));
    return spawn(command, [...before, built(args[at]), ...args.slice(at + 1)], ...rest);
  };
  syncBuiltinESMExports();
}
