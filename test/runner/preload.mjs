// Loaded into every process that runs test files, into its threads, and into programs that it runs from the sources.
import asyncHooks from 'node:async_hooks';
import { syncBuiltinESMExports } from 'node:module';
import { isMainThread } from 'node:worker_threads';

/**
 * Imports tap without its async hook, which relates each promise and timer to its test and takes a sixth of the time of
 * most files. Without the hook an unhandled error ends the file: Node prints it, and tap names the unfinished test.
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

/** Lets an empty object or list in a pattern of `t.match` match only an empty one; `Object` and `Array` match any. */
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

// Node reads these authorities at every start, which takes longer than the rest of the start. Tests trust their own
// alone.
if (isMainThread) delete process.env.NODE_EXTRA_CA_CERTS;
if (isMainThread && /\/(?:[^/]+\.test|shared-process)\.ts$/.test(process.argv[1] ?? '')) {
  // These come before TypeScript is registered, because afterwards each import is sent to the thread of the loader.
  const t = await importTap();
  await Promise.all([import('zod'), import('undici'), import('ws'), import('chokidar')]);
  // A file that runs without the runner gets its limit here. A slow machine needs more than the 30 s of tap.
  if (process.send === undefined && process.env.TAP_TIMEOUT === undefined) t.setTimeout(600_000);
}
const { STACKWARDEN_TEST_BUILD: buildDir } = process.env;
if (isMainThread && buildDir !== undefined) {
  const { startFromBuild } = await import('./built-threads.mjs');
  startFromBuild(buildDir);
}
await import('./typescript.mjs');
