// Runs a host in a process of its own, from the build of the test run if there is one, else from the sources. The
// argument holds the options of the host, and the save of a job file around which the process kills itself.
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const rootDir = fileURLToPath(new URL('../..', import.meta.url));
const { STACKWARDEN_TEST_BUILD: buildDir } = process.env;

/** The module that holds the exports of this source file. In a build, one file holds the whole core. */
function fromCore(file) {
  return import(buildDir === undefined ? path.join(rootDir, file) : path.join(buildDir, 'core/bundle/core.js'));
}

function killAt(prototype, { when, holds }) {
  const { replace } = prototype;
  prototype.replace = async function (name, data, options) {
    const isIt = /^[0-9a-f]{32}\.json$/.test(name) && data.includes(holds);
    if (isIt && when === 'before') process.kill(process.pid, 'SIGKILL');
    await replace.call(this, name, data, options);
    if (isIt) process.kill(process.pid, 'SIGKILL');
  };
}

// Whoever read the output may have ended, and the host must not fail for that.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
const { kill, ...options } = JSON.parse(process.argv[2] ?? '{}');
const { createHost } = await fromCore('core/host/host.ts');
if (kill !== undefined) {
  const { prototype } = (await fromCore('core/kit/private-directory.ts')).PrivateDirectory;
  killAt(prototype, kill);
}
const host = await createHost(options);
process.on('SIGTERM', () => void host.stop());
console.log(`at http://127.0.0.1:${host.address?.port}`);
process.exit(await host.stopped);
