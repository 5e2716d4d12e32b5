// Two services with one log: a host that takes them over cuts off no line that it has not written twice.
import { chmod, readFile } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { testDir } from '../../support/directory.ts';
import { kid } from '../../support/kids.ts';
import { startStackwarden, writeConfig } from '../../support/stackwarden.ts';
import { until } from '../../support/until.ts';

const PLUGINS = ['config', 'process'];
const WRITES = 'n=0; while :; do n=$((n + 1)); echo "number $n"; sleep 0.05; done';

for (const signal of ['SIGKILL', 'SIGTERM'] as const) {
  t.test(`lines of one outlast a takeover of the other, after ${signal}`, async t => {
    const dir = testDir(t, {});
    await chmod(dir, 0o755);
    const log = path.join(dir, 'log', 'both.log');
    const block = (name: string, script: string) => ({
      ...kid(name, [], { enabled: true }),
      command: ['sh', '-c', script],
      log_file: log,
    });
    const config = { quiet: block('Quiet', 'echo once; exec sleep 600'), busy: block('Busy', WRITES) };
    const port = await writeConfig(dir, { dumb: { shutdown: { keep_services: true } }, ...config });
    const numbers = async (): Promise<number[]> => {
      const text = await readFile(log, 'utf8').catch(() => '');
      return [...text.matchAll(/Busy subprocess: number (\d+)$/gm)].map(([, number]) => Number(number));
    };
    const first = await startStackwarden(dir, port, { plugins: PLUGINS });
    await until(async () => (await readFile(log, 'utf8')).includes('once') && (await numbers()).length > 10);
    first.child.kill(signal);
    await first.exited;
    const before = (await numbers()).length;

    const second = await startStackwarden(dir, port, { plugins: PLUGINS });
    t.teardown(async () => {
      for (const name of ['Quiet', 'Busy'])
        await fetch(`${second.base}/process/stop-service`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ process_name: name }),
        });
      second.child.kill('SIGTERM');
      await second.exited;
    });
    await until(() => ['Quiet', 'Busy'].every(name => second.stdout().includes(`${name} is still running`)));
    await until(async () => ((await numbers()).at(-1) ?? 0) > before + 10);
    const seen = await numbers();
    t.same(
      [...new Set(seen)],
      Array.from({ length: seen.at(-1) ?? 0 }, (_, index) => index + 1),
    );
  });
}
