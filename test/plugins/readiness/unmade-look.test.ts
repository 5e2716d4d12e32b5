// A look that cannot be made for want of descriptors says nothing about the service, which is therefore
// not restarted.
import t from 'tap';
import { usingUp } from '../../support/used-up.ts';

/** What becomes of each way to look in another process, before and after it has used up its descriptors. */
function lookAround(): Promise<string[][]> {
  return usingUp(`
    const { look } = await load('plugins/readiness/look.ts')
    const { createFetcher } = await load('core/host/fetch.ts')
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
    useUp(0)
    return [before, await all()]`);
}

t.test('no descriptor is left', async t => {
  const [before, after] = await lookAround();
  t.same(before, ['counts', 'counts', 'counts']);
  t.same(after, ['does not count', 'does not count', 'does not count']);
});
