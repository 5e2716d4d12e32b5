// The list of manifests beside another: no other file of the product is shown as a manifest.
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { startHost } from '../../support/host.ts';

t.test('the state of the schedule is no manifest', async t => {
  const app = await startHost({ plugins: ['symlinks', 'config'] });
  t.teardown(() => app.stop());
  const state = path.join(app.configDir, 'symlink-repair');
  const own = path.join(state, 'own');
  await mkdir(own, { recursive: true });
  for (const file of [
    path.join(state, 'schedule.json'),
    path.join(state, 'mine.json'),
    path.join(own, 'schedule.json'),
  ])
    await writeFile(file, '{}');
  const beside = async (file: string) => {
    const asked = encodeURIComponent(path.join(state, file));
    const { body } = await app.get(`/process/symlink-manifest-files?manifest_path=${asked}`);
    return body.files.map(({ name }: { name: string }) => name);
  };
  t.same(await beside('mine.json'), ['mine.json']);
  t.same(await beside('own/mine.json'), ['schedule.json'], 'one of that name elsewhere may be');
});
