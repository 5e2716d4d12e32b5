// The contract of every plugin, tested in a real host beside all plugins of the product.
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Test } from 'tap';
import { createHost } from '../../core/host/host.ts';

const productDir = fileURLToPath(new URL('../../plugins', import.meta.url));
const PATIENT_MS = 60_000;

export interface HeldPlugin {
  /** Address of the host, for example `http://127.0.0.1:41327`. */
  readonly base: string;
  readonly configDir: string;
}

type Suite = Pick<Test, 'test'>;

/**
 * Runs all tests of the contract on a host with `config`, and stops the host afterwards. `folder` is the folder of the
 * plugin. `use` may test there what the plugin itself does.
 */
export async function holdPlugin(
  t: Suite,
  folder: URL | string,
  use: (t: Test, plugin: HeldPlugin) => Promise<void> = async () => undefined,
  config: { readonly dumb?: Record<string, unknown> } & Record<string, unknown> = {},
): Promise<void> {
  const place = path.resolve(typeof folder === 'string' ? folder : fileURLToPath(folder));
  const name = path.basename(place);
  await t.test(`the plugin ${name}`, async t => {
    const configDir = await mkdtemp(path.join(tmpdir(), 'stackwarden-plugin-'));
    const dumb = { log_dir: path.join(configDir, 'log'), gateway: { enabled: false }, ...config.dumb };
    await writeFile(path.join(configDir, 'stackwarden.json'), JSON.stringify({ ...config, dumb }));
    const host = await createHost({
      configDir,
      pluginDirs: [productDir, path.dirname(place)],
      plugins: [...(await readdir(productDir)), name],
      listen: { port: 0 },
      ownsProcess: false,
      deadlines: { importMs: PATIENT_MS, setupMs: PATIENT_MS },
    });
    t.teardown(async () => {
      await host.stop();
      await rm(configDir, { recursive: true });
    });
    const report = () => host.plugins().find(plugin => plugin.name === name);
    const base = `http://127.0.0.1:${host.address?.port}`;
    const statuses = async (): Promise<number[]> => {
      const routes = report()?.routes.filter(route => route.startsWith('GET ') && !route.includes('{')) ?? [];
      return Promise.all(routes.map(async route => (await fetch(base + route.slice('GET '.length))).status));
    };
    t.match(report(), { state: 'ready', reason: null }, 'it is set up with the defaults of its configuration');
    const answers = await statuses();
    t.ok(
      answers.every(status => status < 500),
      'its routes answer',
      answers.length === 0 ? { skip: 'it has no GET route without parameters' } : {},
    );
    const flags = (await (await fetch(`${base}/process/capabilities`)).json()) as Record<string, boolean>;
    for (const flag of report()?.capabilities ?? []) t.type(flags[flag], 'boolean', `the flag ${flag} is told`);

    await use(t, { base, configDir });
    t.same(report()?.errors, {}, 'no fault was counted');

    const routes = report()?.routes ?? [];
    const updates = { dumb: { plugins: { disabled: [name] } } };
    const off = await fetch(`${base}/config`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ updates }),
    });
    t.equal(off.status, 200, await off.text());
    for (let looks = 0; report()?.state !== 'disabled' && looks < 3_000; looks += 1) {
      await new Promise(resolve => setTimeout(resolve, 10));
    }
    t.equal(report()?.state, 'disabled', 'it is withdrawn while the host runs');
    for (const route of routes.filter(candidate => candidate.startsWith('GET ') && !candidate.includes('{'))) {
      t.equal((await fetch(base + route.slice('GET '.length))).status, 404, `${route} is gone with it`);
    }
  });
}
