// What a diagnosis costs: the speed of masking secrets, against a plain copy; and the time, longest pause of the event
// loop and memory for a bundle from 36 services with their logs and a week of metrics. `--mb 1000` sets the size of the
// logs; default: 100 MB.
import { appendFile, mkdir } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { redactText } from '../../plugins/ai/redaction/secret-text.ts';
import { type BuiltHost, cpuMs, makePlace, residentMegabytes, startBuilt } from './support/built-host.ts';
import { printFigure } from './support/figures.ts';
import { fill } from './support/sample-days.ts';

const SERVICES = 36;
const RUNS = 5;
const DAY_MS = 86_400_000;
const WINDOW_H = 168;
const LINES_AT_ONCE = 5_000;
const TEXT_BYTES = 8 * 1024 * 1024;
const LOOK_MS = 2_000;
/** The longest pause of a host that is idle. */
const QUIET_PAUSE_MS = 10;
const option = process.argv.indexOf('--mb');
const megabytes = option < 0 ? 100 : Number(process.argv[option + 1]);

/** Lines as media managers write them; one in fifty is an error, and some hold a secret. */
function lineAt(index: number, atMs: number): string {
  const time = new Date(atMs).toISOString().slice(0, 23).replace('T', ' ');
  if (index % 50 === 0)
    return `${time}|Error|Importer|Episode ${index} failed: request timed out after ${index % 90} s\n`;
  if (index % 97 === 0)
    return `${time}|Debug|Http|GET http://127.0.0.1:9696/1/api?t=caps&apikey=0123456789abcdef${index} 200\n`;
  if (index % 31 === 0) return `${time}|Warn|Rss|Indexer ${index % 7} answered slowly: ${index % 9_000} ms\n`;
  return `${time}|Info|Scanner|Item ${index} of the library at /data/media/Show ${index % 400}/Season 1 was read in ${index % 200} ms\n`;
}

async function writeLog(file: string, bytes: number): Promise<void> {
  const nowMs = Date.now();
  let written = 0;
  for (let index = 0; written < bytes; ) {
    let text = '';
    for (const end = index + LINES_AT_ONCE; index < end && written + text.length < bytes; index += 1)
      text += lineAt(index, nowMs - 7 * DAY_MS * (1 - (written + text.length) / bytes));
    await appendFile(file, text);
    written += text.length;
  }
}

function measureRedaction(): void {
  let text = '';
  for (let index = 0; text.length < TEXT_BYTES; index += 1) text += lineAt(index, index * 1_000);
  const lines = text.split('\n');
  const copying = Array.from({ length: RUNS }, () =>
    timed(() => lines.map(line => Buffer.from(line).toString()).join('\n')),
  );
  const masking = Array.from({ length: RUNS }, () => timed(() => lines.map(line => redactText(line)).join('\n')));
  const whole = Array.from({ length: RUNS }, () => timed(() => redactText(text)));
  const rate = (ms: number): number => text.length / 1_000 / ms;
  printFigure({ name: 'ai: masking lines', unit: 'MB/s', runs: masking.map(rate), baseline: copying.map(rate) });
  printFigure({ name: 'ai: masking one text', unit: 'MB/s', runs: whole.map(rate), baseline: copying.map(rate) });
}

function timed(work: () => unknown): number {
  const startedMs = performance.now();
  work();
  return performance.now() - startedMs;
}

/** Waits until the host is idle: its start goes on for some seconds after the first answer. */
async function started(host: BuiltHost): Promise<void> {
  do await delay(LOOK_MS);
  while ((await host.longestPauseMs()) > QUIET_PAUSE_MS);
}

async function measureStack(): Promise<void> {
  const names = Array.from({ length: SERVICES }, (_, index) => `Service ${index}`);
  const blocks = names.map((name, index) => [
    `service_${index}`,
    {
      enabled: true,
      process_name: name,
      command: ['sleep', '86400'],
      config_dir: '/',
      log_file: `service-${index}.log`,
    },
  ]);
  const place = await makePlace(configDir => ({
    ...Object.fromEntries(blocks),
    dumb: { log_dir: path.join(configDir, 'log'), metrics: { history_interval_sec: 3_600 } },
  }));
  try {
    await mkdir(path.join(place.configDir, 'log'));
    await mkdir(path.join(place.configDir, 'metrics'));
    for (const [index] of names.entries())
      await writeLog(path.join(place.configDir, 'log', `service-${index}.log`), (megabytes * 1_000_000) / SERVICES);
    const history = path.join(place.configDir, 'metrics', 'metrics.sqlite');
    fill(history, { days: 7, end: Date.now() / 1_000, managed: SERVICES, capMb: 100 });
    const host = await startBuilt(place, [], true);
    try {
      await started(host);
      const before = await residentMegabytes(host.pid);
      const [runs, pauses, cpu]: [number[], number[], number[]] = [[], [], []];
      for (let run = 0; run < RUNS; run += 1) {
        await host.longestPauseMs();
        const cpuBefore = await cpuMs(host.pid);
        const startedMs = performance.now();
        await host.post('/ai/diagnose-stack', {
          dry_run: true,
          question: 'How is the health and performance of everything?',
          window_hours: WINDOW_H,
        });
        runs.push(performance.now() - startedMs);
        cpu.push((await cpuMs(host.pid)) - cpuBefore);
        pauses.push(await host.longestPauseMs());
      }
      const after = await residentMegabytes(host.pid);
      const name = `ai: a stack of ${SERVICES} services with ${megabytes} MB of logs and seven days of metrics`;
      printFigure({ name, unit: 'ms', runs, baseline: [0] });
      printFigure({ name: `${name}: processor time without ended threads`, unit: 'ms', runs: cpu, baseline: [0] });
      printFigure({ name: `${name}: longest pause`, unit: 'ms', runs: pauses, baseline: [0] });
      printFigure({ name: `${name}: memory`, unit: 'MB', runs: [after - before], baseline: [0] });
    } finally {
      await host.end('SIGTERM');
    }
  } finally {
    await place.remove();
  }
}

measureRedaction();
await measureStack();
