// A few services, several clients that start, stop, restart, hold, remove, enable, kill and suspend them at random, and
// a host that is killed or hands over meanwhile: in the end each service that is to run has one run, nothing else
// lives, and each line is in its log once.
import { chmod, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import { testDir } from '../support/directory.ts';
import { lives } from '../support/kids.ts';
import { kill } from '../support/marked-processes.ts';
import { withNeeds } from '../support/needs.ts';
import { randomNumbers, rounds } from '../support/rounds.ts';
import { type RunningStackwarden, startStackwarden, writeConfig } from '../support/stackwarden.ts';
import { until } from '../support/until.ts';

const NAMES = ['One', 'Two', 'Three'];
const CLIENTS = 3;
const OPERATIONS = 8;
const MAX_PAUSE_MS = 250;
const KILLS = 2;
/** Nothing else is an answer to a request that another one overtakes. */
const STATUSES = [200, 404, 409, 503];
/** Of what is killed while it starts. */
const KILLED = /failed to stay running \(SIGKILL\)/;
/**
 * A run notes its pid, and prints numbered lines until it is told to end, which takes a moment and is told. It tells of
 * another one beside it.
 */
const SCRIPT = `
n=0; last=$(tail -n 1 "$1" 2>/dev/null)
trap 'sleep 0.4; echo "end $$ $n."; exit 0' TERM
echo $$ >> "$1"
case "$(cat "/proc/\${last:-none}/stat" 2>/dev/null)" in ''|*') Z '*) ;; *) echo "$$ runs beside another" ;; esac
while :; do n=$((n + 1)); echo "line $$ $n."; sleep 0.05; done`;

/** Runs a service anew while nobody else may. */
const HOLDER = `export default { name: 'busy', host: '^1', needs: ['process'], setup (host) {
  host.route({ method: 'POST', path: '/busy/{name}', summary: 'x', async handle ({ params: { name } }) {
    await host.use('process.supervisor').hold(name, 'it is looked at', async held => {
      const { pid } = held.snapshot()
      await held.stop()
      if (pid !== null) await held.start()
    })
    return {}
  } })
} }`;

const below = randomNumbers(t);
const many = <Item>(count: number, item: () => Item): Item[] => Array.from({ length: count }, item);

/** What all do is drawn before anything happens, so that it is the same for a seed. */
const histories = many(rounds(1), () => ({
  clients: many(CLIENTS, () =>
    many(OPERATIONS, () => ({
      name: NAMES[below(NAMES.length)] as string,
      kind: below(11),
      pauseMs: below(MAX_PAUSE_MS),
    })),
  ),
  ends: many(KILLS, () => ({ pauseMs: 500 + below(1_500), signal: below(2) === 0 ? 'SIGKILL' : 'SIGTERM' }) as const),
  isRuns: new Map(NAMES.map(name => [name, below(2) === 0])),
}));

for (const [round, { clients, ends, isRuns }] of histories.entries()) {
  t.test(`round ${round}`, async t => {
    const dir = testDir(t, { config: { plugins: { busy: { 'index.mjs': HOLDER } } }, pids: {}, log: {} });
    await chmod(dir, 0o755);
    await chmod(path.join(dir, 'pids'), 0o777);
    const pidsOf = async (name: string): Promise<number[]> => {
      const text = await readFile(path.join(dir, 'pids', name), 'utf8').catch(() => '');
      return text.split('\n').filter(Boolean).map(Number);
    };
    const logOf = (name: string) => path.join(dir, 'log', `${name}.log`);
    const blockOf = (name: string) => ({
      enabled: false,
      process_name: name,
      command: ['sh', '-c', SCRIPT, 'sh', path.join(dir, 'pids', name)],
      log_file: logOf(name),
      suppress_logging: true,
      stop_grace_seconds: 30,
    });
    const configDir = path.join(dir, 'config');
    const blocks = Object.fromEntries(NAMES.map(name => [name.toLowerCase(), blockOf(name)]));
    const port = await writeConfig(configDir, {
      dumb: { log_dir: path.join(dir, 'log'), shutdown: { keep_services: true } },
      ...blocks,
    });
    const args = ['start', '--plugins', [...(await withNeeds(['config', 'process'])), 'busy'].join()];
    const open = () => startStackwarden(configDir, port, { args });
    let host: RunningStackwarden = await open();

    /** undefined where the host was killed before it has answered. */
    const ask = async (route: string, body?: object): Promise<{ status: number; text: string } | undefined> => {
      const post = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
      const signal = AbortSignal.timeout(60_000);
      try {
        const answer = await fetch(`http://127.0.0.1:${port}${route}`, { ...(body && post), signal });
        return { status: answer.status, text: await answer.text() };
      } catch (error) {
        if (signal.aborted) throw error;
        return undefined;
      }
    };
    const file = path.join(configDir, 'stackwarden.json');
    let editing = Promise.resolve();
    const edit = (change: (root: Record<string, Record<string, unknown>>) => void): Promise<void> => {
      editing = editing.then(async () => {
        const root = JSON.parse(await readFile(file, 'utf8'));
        change(root);
        await writeFile(file, JSON.stringify(root, null, 4));
      });
      return editing;
    };
    const operate = async (name: string, kind: number, pauseMs: number): Promise<void> => {
      const key = name.toLowerCase();
      if (kind < 7) {
        const verb = ['start', 'stop', 'restart'][kind % 3];
        const route = kind === 6 ? `/busy/${name}` : `/process/${verb}-service`;
        const answer = await ask(route, { process_name: name });
        if (answer === undefined) return;
        const isKnown = STATUSES.includes(answer.status) || KILLED.test(answer.text);
        t.ok(isKnown, `${route}: ${answer.status} ${answer.text}`);
      } else if (kind === 7) {
        await edit(root => Object.assign(root[key] ?? {}, { enabled: root[key]?.enabled !== true }));
      } else if (kind === 8) {
        await edit(root => delete root[key]);
        await delay(pauseMs);
        await edit(root => {
          root[key] = blockOf(name);
        });
      } else {
        const living = (await pidsOf(name)).filter(lives);
        for (const pid of living) kill(pid, kind === 9 ? 'SIGKILL' : 'SIGSTOP');
        await delay(pauseMs);
        for (const pid of living) kill(pid, 'SIGCONT');
      }
    };
    const client = async (operations: (typeof clients)[number]): Promise<void> => {
      for (const { name, kind, pauseMs } of operations) {
        await operate(name, kind, pauseMs);
        await delay(pauseMs);
      }
    };
    const killer = async (): Promise<void> => {
      for (const { pauseMs, signal } of ends) {
        await delay(pauseMs);
        host.child.kill(signal);
        await host.exited;
        host = await open();
      }
    };
    await Promise.all([...clients.map(client), killer()]);

    const settled = async (name: string) => {
      const verb = isRuns.get(name) === true ? 'start' : 'stop';
      const answer = await ask(`/process/${verb}-service`, { process_name: name });
      return answer?.status === 200;
    };
    for (const name of NAMES) await until(() => settled(name), { what: `the last word about ${name}` });
    for (const name of NAMES) {
      const answer = await ask(`/process/service-status?process_name=${name}`);
      const living = (await pidsOf(name)).filter(lives);
      const isRunning = isRuns.get(name) === true;
      t.equal(
        JSON.parse(answer?.text ?? '').status,
        isRunning ? 'running' : 'stopped',
        `${name} is what was last asked for`,
      );
      t.equal(living.length, isRunning ? 1 : 0, `and has as many runs: ${living.join(', ')}`);
    }

    await edit(root => Object.assign(root.dumb?.shutdown ?? {}, { keep_services: false }));
    await until(async () => JSON.parse((await ask('/config'))?.text ?? '').dumb.shutdown.keep_services === false);
    host.child.kill('SIGTERM');
    await host.exited;
    for (const name of NAMES) {
      const pids = await pidsOf(name);
      t.same(pids.filter(lives), [], `nothing of ${name} is left`);
      const text = await readFile(logOf(name), 'utf8').catch(() => '');
      t.notMatch(text, 'beside another', `never two of ${name}`);
      for (const pid of pids) {
        const numbers = [...text.matchAll(new RegExp(`line ${pid} (\\d+)\\.`, 'g'))].map(([, number]) =>
          Number(number),
        );
        t.ok(
          numbers.every((number, index) => number === index + 1),
          `the lines of ${pid}: ${numbers.join(' ')}`,
        );
        const last = [...text.matchAll(new RegExp(`end ${pid} (\\d+)\\.`, 'g'))].map(([, number]) => Number(number));
        t.ok(last.length <= 1 && (last[0] ?? numbers.length) === numbers.length, `and the last one of ${pid}`);
      }
      t.comment(`${name}: ${pids.length} runs`);
    }
  });
}
