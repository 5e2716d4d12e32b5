// A host with the archive plugin from a build, whose worker starts as it does for users, and a plugin that calls it.
import { chmod, chown, mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Unpacked, Unpacking, UnpackingProgress } from '../../plugins/archives/contract.ts';
import { sharedBuild } from './build.ts';
import { testDir } from './directory.ts';
import { startHost } from './host.ts';

const ASKING = `export default { name: 'asking', host: '^1', setup (host) {
  host.route({
    method: 'POST', path: '/asking/unpack', summary: 'Unpacks', body: host.z.looseObject({}), response: host.z.any(),
    handle: async ({ body: { isCancelled, ...body } }) => {
      const progress = []
      const controller = new AbortController()
      const onProgress = one => {
        progress.push(one)
        if (isCancelled) controller.abort(new Error('it was cancelled'))
      }
      // A Problem from the build is not an instance of this process's Problem class, so it is passed on as data.
      const refused = ({ status, message }) => ({ status: status ?? 500, detail: message })
      const unpacking = host.use('archives').unpack({ ...body, signal: controller.signal, onProgress })
      return unpacking.then(unpacked => ({ status: 200, ...unpacked, progress }), refused)
    }
  })
} }`;

/** With status 200 what was unpacked, else the status and the sentence of the refusal. */
interface Answer extends Partial<Unpacked> {
  readonly status: number;
  readonly detail?: string;
  readonly progress?: readonly UnpackingProgress[];
}

type Asked = Partial<Omit<Unpacking, 'archive' | 'signal' | 'onProgress'>> & { readonly isCancelled?: boolean };

interface Unpacker {
  /** A directory of the test. */
  readonly dir: string;
  /** Unpacks archives, given as bytes or files; several in a list are layers. Default for `into`: a new directory. */
  unpack(archive: Buffer | readonly Buffer[] | string, asked?: Asked): Promise<Answer & { readonly into: string }>;
}

export async function startUnpacker(t: Parameters<typeof testDir>[0]): Promise<Unpacker> {
  const dir = testDir(t, { own: { asking: { 'index.js': ASKING } }, work: {} });
  await chmod(dir, 0o755);
  await chmod(path.join(dir, 'work'), 0o755);
  const pluginDirs = [path.join(await sharedBuild(t), 'plugins'), path.join(dir, 'own')];
  const app = await startHost({ pluginDirs, plugins: ['archives', 'asking'] });
  t.teardown(() => app.stop());
  return {
    dir,
    async unpack(archive, asked = {}) {
      const { user = null } = asked;
      const place = await mkdtemp(path.join(dir, 'work/case-'));
      await chmod(place, 0o755);
      const into = asked.into ?? path.join(place, 'into');
      await mkdir(into, { recursive: true });
      if (user !== null) await chown(into, user.uid, user.gid);
      const written = async (bytes: Buffer | string, index: number): Promise<string> => {
        if (typeof bytes === 'string') return bytes;
        const file = path.join(place, `archive-${index}`);
        await writeFile(file, bytes, { mode: 0o600 });
        return file;
      };
      const files = await Promise.all([archive].flat().map(written));
      const body = { ...asked, user, into, archive: Array.isArray(archive) ? files : files[0] };
      return { ...(await app.post('/asking/unpack', body)).body, into };
    },
  };
}
