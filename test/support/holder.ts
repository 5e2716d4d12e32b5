// A third party's plugin that holds processes, so that they cannot start, until a test releases them.
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Test } from 'tap';
import type { TestHost } from './host.ts';

const HOLDER = `export default { name: 'holder', host: '^1', needs: ['process'], setup (host) {
  const releases = new Map()
  host.route({ method: 'POST', path: '/hold/{name}', summary: 'x', handle ({ params: { name } }) {
    const work = () => new Promise(resolve => releases.set(name, resolve))
    void host.use('process.supervisor').hold(name, 'its files are moved', work, { signal: host.signal }).catch(() => {})
    return {}
  } })
  host.route({ method: 'POST', path: '/release/{name}', summary: 'x', handle ({ params: { name } }) { releases.get(name)(); return {} } })
} }`;

/** The folder that contains the plugin `holder`. */
export async function holderFolder(t: Test): Promise<string> {
  const dir = await mkdtemp(path.join(tmpdir(), 'stackwarden-holder-'));
  t.teardown(() => rm(dir, { recursive: true }));
  await mkdir(path.join(dir, 'holder'));
  await writeFile(path.join(dir, 'holder', 'index.mjs'), HOLDER);
  return dir;
}

export const hold = (app: TestHost, name: string) => app.post(`/hold/${name}`, {});
export const release = (app: TestHost, name: string) => app.post(`/release/${name}`, {});
