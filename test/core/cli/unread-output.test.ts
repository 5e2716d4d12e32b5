// A host whose standard output nobody reads goes on, keeps little of the output, and marks where lines are missing.
import { chmod, writeFile } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { testDir } from '../../support/directory.ts';
import { startStackwarden, writeConfig } from '../../support/stackwarden.ts';
import { until } from '../../support/until.ts';

const LINE = 'a line of a program that says the same again and again, and much of it';
const SAID_BYTES = 20_000_000;
const SPEAK = `until [ -s go ]; do sleep 0.05; done
yes '${LINE}' | head -c ${SAID_BYTES}
echo; echo the end
until [ -s again ]; do sleep 0.05; done
echo spoken again
exec sleep 600`;

t.test('output that nobody reads is dropped and marked', async t => {
  const dir = testDir(t);
  await chmod(dir, 0o755);
  const port = await writeConfig(dir, {
    loud: { enabled: true, process_name: 'Loud', command: ['sh', '-c', SPEAK], config_dir: dir },
  });
  const host = await startStackwarden(dir, port, { plugins: ['process', 'config', 'logs'] });
  const logged = async (text: string) => {
    const answer = await fetch(`${host.base}/logs?process_name=Loud&tail_bytes=1024`);
    return ((await answer.json()) as { chunk: string }).chunk.includes(text);
  };
  host.child.stdout?.pause();
  await writeFile(path.join(dir, 'go'), 'now');
  await until(() => logged('the end'), { timeoutMs: 60_000, what: 'all to be taken' });
  host.child.stdout?.resume();
  await until(async () => {
    await fetch(`${host.base}/process/processes`);
    return host.stdout().length > 1_000_000;
  });
  await writeFile(path.join(dir, 'again'), 'now');
  await until(() => host.stdout().includes('Loud subprocess: spoken again'), { what: 'what comes when it is read' });
  const told = ' - WARNING - host: lines are left out here, because nobody read them in time; the log file has them\n';
  t.ok(host.stdout().includes(told), 'where lines are missing is told');
  t.ok(host.stdout().length < SAID_BYTES / 2, `${host.stdout().length} bytes were kept`);
  host.child.kill('SIGTERM');
  await host.exited;
});
