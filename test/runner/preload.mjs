// Loaded into every process of test files, and from there into its threads and the programs that it runs from the sources.
import asyncHooks from 'node:async_hooks';
import { syncBuiltinESMExports } from 'node:module';
import { isMainThread } from 'node:worker_threads';

/**
 * tap follows each promise and timer back to its test, which takes a sixth of the time of most files. Without that, an
 * error that nobody waits for ends the file: Node prints it, and tap names the test that was unfinished.
 */
async function importTap() {
  const { createHook } = asyncHooks;
  const without = { enable: () => without, disable: () => without };
  asyncHooks.createHook = () => without;
  syncBuiltinESMExports();
  const { default: t } = await import('tap');
  asyncHooks.createHook = createHook;
  syncBuiltinESMExports();
  await holdEmptyPatterns();
  return t;
}

/** An empty object or list in a pattern of `t.match` is matched by an empty one alone; `Object` and `Array` mean any. */
async function holdEmptyPatterns() {
  const { Match } = await import('tcompare');
  const { test } = Match.prototype;
  Match.prototype.test = function () {
    return isEmpty(this.expect) && isFilled(this.object) ? false : test.call(this);
  };
}

function isEmpty(pattern) {
  if (typeof pattern !== 'object' || pattern === null) return false;
  const prototype = Object.getPrototypeOf(pattern);
  const isPlain = Array.isArray(pattern) || prototype === Object.prototype || prototype === null;
  return isPlain && Object.keys(pattern).length === 0;
}

function isFilled(value) {
  return typeof value === 'object' && value !== null && Object.keys(value).length > 0;
}

// Node reads these authorities at every start, which takes it longer than all the rest of that; tests trust their own alone.
if (isMainThread) delete process.env.NODE_EXTRA_CA_CERTS;
if (isMainThread && /\/(?:[^/]+\.test|shared-process)\.ts$/.test(process.argv[1] ?? '')) {
  // What every file needs comes before TypeScript, because from then on each import is asked of the loader's own thread.
  const t = await importTap();
  await Promise.all([import('zod'), import('undici'), import('ws'), import('chokidar')]);
  // For a file that is run alone: the runner gives a limit to each of its own. A slow machine needs more than tap's 30 s.
  if (process.send === undefined && process.env.TAP_TIMEOUT === undefined) t.setTimeout(600_000);
}
const { STACKWARDEN_TEST_BUILD: buildDir } = process.env;
if (isMainThread && buildDir !== undefined) {
  const { startFromBuild } = await import('./built-threads.mjs');
  startFromBuild(buildDir);
}
await import('./typescript.mjs');
