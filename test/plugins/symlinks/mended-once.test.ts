// What an interrupted job has left is mended by the next start that can, and not again by each one after it.
import { readdirSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { startHost } from '../../support/host.ts';
import { found, linkDir, linksOf, plant } from '../../support/links.ts';
import { ownLogText } from '../../support/own-log.ts';
import { startStackwarden, writeConfig } from '../../support/stackwarden.ts';
import { until } from '../../support/until.ts';

const LINKS = 20_000;

t.test('a restore of a killed host', async t => {
  const dir = linkDir(t, { config: {}, root: {} });
  const [configDir, root, manifest] = ['config', 'root', 'manifest.json'].map(name => path.join(dir, name)) as [
    string,
    string,
    string,
  ];
  const entries = Array.from({ length: LINKS }, (_, link) => ({ link_path: `${root}/e${link}`, target: '/x' }));
  writeFileSync(manifest, JSON.stringify({ manifest_type: 'symlink_snapshot', entries }));
  const order = { manifest_path: manifest, dry_run: false };
  const port = await writeConfig(configDir);
  const killed = await startStackwarden(configDir, port, { plugins: ['symlinks'] });
  const answer = await fetch(`${killed.base}/process/symlink-manifest/restore-async`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(order),
  });
  const { job_id: id } = (await answer.json()) as { job_id: string };
  await until(() => readdirSync(root).length > 0, { intervalMs: 1 });
  killed.child.kill('SIGKILL');
  await killed.exited;
  t.ok(linksOf(root).size < LINKS, 'it was cut off');
  const temporary = `.slr-${id.slice(0, 6)}000000`;
  plant(root, { [temporary]: { to: '/x' } });
  const hasTemporary = () => found(root).includes(temporary);
  /** Starts a host, and resolves with the status of a restore, which waits until all is mended. */
  const restoreAfterStart = async (): Promise<number> => {
    const host = await startHost({ configDir, plugins: ['symlinks'] });
    try {
      return (await host.post('/process/symlink-manifest/restore', order)).status;
    } finally {
      await host.stop();
    }
  };

  renameSync(manifest, `${manifest}.away`);
  t.equal(await restoreAfterStart(), 404);
  t.ok(hasTemporary(), 'without the manifest it is not known where to look');
  t.notMatch(await ownLogText(path.join(configDir, 'log')), ' - ERROR - ');

  renameSync(`${manifest}.away`, manifest);
  t.equal(await restoreAfterStart(), 200);
  t.notOk(hasTemporary());

  plant(root, { [temporary]: { to: '/x' } });
  t.equal(await restoreAfterStart(), 200);
  t.ok(hasTemporary(), 'it is not looked for again');

  writeFileSync(path.join(configDir, 'data/symlinks/mended.json'), 'damaged');
  t.equal(await restoreAfterStart(), 200);
  t.notOk(hasTemporary(), 'unless it is not known that it was mended');
});
