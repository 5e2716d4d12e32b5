// Starts a build once, as a program of its own, and writes what V8 has compiled of its scripts beside them. The
// argument is the directory of the build.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { CompiledScript } from '../host/compiled-script.ts';
import type { HostOptions, StackwardenHost } from '../host/host-options.ts';
import { CORE_DIR } from './places.ts';

/** The routes that a frontend requests first. */
const ROUTES = ['/process/capabilities', '/process/processes', '/health', '/config', '/metrics'];

interface Core {
  createHost(options: HostOptions): Promise<StackwardenHost>;
}
interface CoreScript {
  readonly script: CompiledScript;
}
interface Joined {
  readJoinedPlugins(): CompiledScript | undefined;
}

const [outDir = ''] = process.argv.slice(2);
const bundled = async <Module>(name: string): Promise<Module> =>
  (await import(pathToFileURL(path.join(outDir, CORE_DIR, name)).href)) as Module;

const { createHost } = await bundled<Core>('core.js');
const { script } = await bundled<CoreScript>('core-script.js');
const joined = (await bundled<Joined>('joined-plugins.js')).readJoinedPlugins();

const configDir = await mkdtemp(path.join(tmpdir(), 'stackwarden-build-'));
try {
  const dumb = { log_dir: path.join(configDir, 'log'), gateway: { enabled: false } };
  await writeFile(path.join(configDir, 'stackwarden.json'), JSON.stringify({ dumb }));
  const host = await createHost({ configDir, env: {}, listen: { host: '127.0.0.1', port: 0 } });
  for (const route of ROUTES) await (await fetch(`http://127.0.0.1:${host.address?.port}${route}`)).arrayBuffer();
  for (const compiled of [script, joined]) await compiled?.keep();
  await host.stop();
} finally {
  await rm(configDir, { recursive: true, force: true });
}
process.exit();
