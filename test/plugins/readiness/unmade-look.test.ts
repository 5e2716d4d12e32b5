// A look that cannot be made for want of descriptors says nothing about the service, which is therefore
// not restarted.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import t from 'tap';

const run = promisify(execFile);

/** What becomes of each way to look in another process, before and after it has used up its descriptors. */
async function lookAround(): Promise<string[][]> {
  const from = (file: string): string => JSON.stringify(import.meta.resolve(`../../../${file}`));
  const script = `
    import { openSync } from 'node:fs'
    await import(${JSON.stringify(import.meta.resolve('../../runner/typescript.mjs'))})
    const { look } = await import(${from('plugins/readiness/look.ts')})
    const { createFetcher } = await import(${from('core/host/fetch.ts')})
    const { fetch } = createFetcher(new AbortController().signal, 'test')
    const host = { fetch, use: () => ({ root: () => ({ puid: process.getuid(), pgid: process.getgid() }) }) }
    const at = { host, block: { port: 9 }, timeoutMs: 5000, plan: () => undefined }
    const all = async () => {
      const said = []
      for (const key of [{ http: { path: '/' } }, { tcp: {} }, { exec: ['false'] }])
        said.push(await look(key, at).then(() => 'counts', () => 'does not count'))
      return said
    }
    const before = await all()
    try { for (;;) openSync('/dev/null', 'r') } catch {}
    process.stdout.write(JSON.stringify([before, await all()]), () => process.exit())`;
  const args = ['-c', 'ulimit -n 100; exec "$@"', 'sh', process.execPath, '--input-type=module', '-e', script];
  const { stdout } = await run('sh', args, { timeout: 60_000 });
  return JSON.parse(stdout);
}

t.test('no descriptor is left', async t => {
  const [before, after] = await lookAround();
  t.same(before, ['counts', 'counts', 'counts']);
  t.same(after, ['does not count', 'does not count', 'does not count']);
});
