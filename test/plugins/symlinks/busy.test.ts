// A host with much work on links: what it refuses, what goes on beside a slow file system, and what ends with its
// client.
import { existsSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { startHost } from '../../support/host.ts';
import { mountLinks } from '../../support/link-mount.ts';
import { endedJob, linksOf, plant } from '../../support/links.ts';
import { ROOT_ONLY } from '../../support/race.ts';
import { until } from '../../support/until.ts';

const RULES = [{ from_prefix: '/old', to_prefix: '/new' }];
const MAX_WAITING = 50;
const MAX_READING_CALLS = 4;
const LINKS = 2_000;

t.test('a busy host', ROOT_ONLY, async t => {
  const { dir, mount, end } = await mountLinks(t, { folders: 300, delayMs: 300 });
  const host = await startHost({ plugins: ['symlinks', 'services', 'process'] });
  t.teardown(async () => {
    end();
    await host.stop();
  });
  const slow = { rewrite_rules: RULES, roots: [mount] };
  const quick = { rewrite_rules: RULES, roots: [path.join(dir, 'library')] };
  const job = async (id: string) => (await host.get(`/process/symlink-job-status?job_id=${id}`)).body;
  /** A request whose client can disconnect. */
  const begin = (body: object) => {
    const client = new AbortController();
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
    const answer = fetch(`${host.base}/process/symlink-repair`, { ...init, signal: client.signal });
    return { leave: () => client.abort(), status: answer.then(({ status }) => status).catch(() => 'left') };
  };

  t.test('a run that writes is finished though its client has left', async t => {
    const root = path.join(dir, 'library');
    plant(root, Object.fromEntries(Array.from({ length: LINKS }, (_, link) => [`e${link}`, { to: `/old/${link}` }])));
    const undo = path.join(host.configDir, 'symlink-repair/repair-manifests/left.json');
    const { leave, status } = begin({ rewrite_rules: RULES, roots: [root], dry_run: false, backup_path: undo });
    await until(() => existsSync(`${undo}.partial`) || existsSync(undo), { intervalMs: 1 });
    leave();
    await status;
    await until(() => existsSync(undo));
    t.same(
      [...linksOf(root).values()].filter(target => !target.startsWith('/new/')),
      [],
    );
  });

  t.test('dry runs end with their clients, and their number is limited', async t => {
    const runs = Array.from({ length: MAX_READING_CALLS + 1 }, () => begin(slow));
    t.equal(await Promise.race(runs.map(({ status }) => status)), 429);
    for (const { leave } of runs) leave();
    const fates = await Promise.all(runs.map(({ status }) => status));
    t.same(fates.sort(), [429, ...Array(MAX_READING_CALLS).fill('left')]);
    const { body } = await until(async () => {
      const answer = await host.post('/process/symlink-repair', quick);
      return answer.status === 200 ? answer : undefined;
    });
    t.match(body, { scanned_symlinks: LINKS, dry_run: true });
  });

  t.test('beside a slow run others wait or read, and too many are refused', async t => {
    const order = { ...quick, dry_run: false };
    const queue = (body: object) => host.post('/process/symlink-repair-async', body);
    const first = (await queue({ ...slow, dry_run: false })).body.job_id;
    await until(async () => (await job(first)).status === 'running');
    const reading = (await queue({ ...quick, dry_run: true })).body.job_id;
    t.match(await endedJob(host, reading), { status: 'completed', result: { scanned_symlinks: LINKS } });
    const answers = await Promise.all(Array.from({ length: MAX_READING_CALLS }, () => queue(order)));
    let waiting = answers.filter(({ status }) => status === 200).length;
    for (; waiting < MAX_WAITING; waiting += 1) t.equal((await queue(order)).status, 200);
    t.match(await queue(order), { status: 429, body: { detail: /50 symlink jobs wait already/ } });
    t.match(await queue({ ...order, dry_run: true }), { status: 429 }, 'also for those that read');
    t.match(await host.post('/process/symlink-repair', order), { status: 409, body: { detail: /is running/ } });
    t.match(await job(first), { status: 'running', progress: { stage: 'collecting' } });
  });
});
