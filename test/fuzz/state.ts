// Starts hosts on damaged files of their own state: each starts, trusts nothing that is wrong, and tells it in one
// line.
import { randomUUID } from 'node:crypto';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { errorText } from '../../core/kit/error-text.ts';
import { startHost } from '../support/host.ts';
import { StallWatch } from './stall-watch.ts';

/** Processes that never ran here, so that no record can lead to a living one. */
const RECORD = {
  pid: 2 ** 22,
  pgid: 2 ** 22,
  start_time: 1,
  boot_id: randomUUID(),
  started_at: 1,
  run_id: randomUUID(),
  spool: '/nowhere/a.spool',
  block_digest: '',
  cgroup: '',
  config_key: 'sleeper',
};
const WANTED = { state: 'running', by: 'a', at: 1, shown: true };
const JOB = '0'.repeat(32);
const HASH = `$scrypt$ln=15,r=8,p=1$${'c'.repeat(22)}$${'d'.repeat(43)}`;
/** The version of a user's credentials is the ledger of the tokens that count no more. */
const USERS = {
  enabled: true,
  users: [{ username: 'a', password: HASH, disabled: false, token_version: 2 }],
  jwt_secret: 'c'.repeat(64),
};

/** Every file of the host's own state, as a host could have written it. */
const FILES: Readonly<Record<string, unknown>> = {
  'users.json': USERS,
  'users.json.bak': USERS,
  'handed-over.json': { Sleeper: { url: 'http://127.0.0.1:1', at: 1 } },
  'supervisor/state.json': { version: 1, processes: { Sleeper: RECORD }, wanted: { Sleeper: WANTED } },
  'supervisor/startup_state.json': { phase: 'ready' },
  'supervisor/plugin-exits.json': { auth: { digest: 'a', code: 1, at: 'b' } },
  'supervisor/a.spool': 'text',
  'supervisor/a.spool.position': { offset: 3 },
  [`jobs/setup/install/${JOB}.json`]: { version: 1, id: JOB, kind: 'install', key: 'a', state: 'running', queuedAt: 1 },
  [`jobs/setup/install/${JOB}.result.json`]: {},
  'data/metrics/a.sqlite': 'no database',
};
const MAX_BYTES = 2 ** 21;

/** What becomes of a file: cut, another value in some place, nested, large, or no text at all. */
function damaged(text: string): fc.Arbitrary<string | Uint8Array> {
  const cut = fc.nat(text.length).map(length => text.slice(0, length));
  const odd = fc.oneof(fc.jsonValue({ maxDepth: 2 }), fc.constantFrom(-1, '', null, '__proto__', 1e308));
  const changed = fc.tuple(fc.nat(), odd).map(([index, value]) => {
    const places = [...text.matchAll(/:("[^"]*"|[\d.]+|true|null)/g)];
    const place = places[index % Math.max(1, places.length)];
    const at = place?.index ?? 0;
    return text.slice(0, at + 1) + JSON.stringify(value) + text.slice(at + (place?.[0].length ?? 0));
  });
  return fc.oneof(
    { weight: 2, arbitrary: cut },
    { weight: 6, arbitrary: changed },
    { weight: 1, arbitrary: fc.json() },
    { weight: 1, arbitrary: fc.uint8Array({ maxLength: 200 }) },
    {
      weight: 1,
      arbitrary: fc.constantFrom('['.repeat(50_000), `[${'0,'.repeat(MAX_BYTES / 2)}0]`, '\0'.repeat(MAX_BYTES)),
    },
  );
}

/** Starts `count` hosts, each with all of its files damaged, after one whose files are as they should be. */
export async function fuzzState(seed: number, count: number, limitMs: number): Promise<readonly string[]> {
  // The first start of a process loads the plugins.
  const faults: string[] = await faultsOf([], Number.POSITIVE_INFINITY);
  const contents = Object.entries(FILES).map(([name, content]) => {
    const text = typeof content === 'string' ? content : JSON.stringify(content);
    return damaged(text).map(found => [name, found] as const);
  });
  for (const files of fc.sample(fc.tuple(...contents), { seed, numRuns: count })) {
    for (const fault of await faultsOf(files, limitMs))
      faults.push(`${fault}: ${JSON.stringify(files).slice(0, 2_000)}`);
  }
  return faults;
}

async function faultsOf(
  files: readonly (readonly [string, string | Uint8Array])[],
  limitMs: number,
): Promise<string[]> {
  const configDir = await mkdtemp(path.join(tmpdir(), 'stackwarden-state-'));
  await chmod(configDir, 0o755);
  const faults: string[] = [];
  const watch = new StallWatch();
  try {
    for (const [name, content] of files) {
      const file = path.join(configDir, name);
      await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
      await writeFile(file, content, { mode: 0o600 });
    }
    const app = await startHost({
      configDir,
      plugins: 'offline',
      config: { sleeper: { enabled: false, process_name: 'Sleeper', command: ['sleep', '600'] } },
    });
    try {
      const { status } = await app.get('/health');
      if (status >= 500 && status !== 503) faults.push(`${status} of /health`);
      const config = await app.get('/config');
      const isOpen = config.status !== 401 && config.status !== 503;
      if (isOpen && files.length > 0 && !isSwitchedOff(files)) faults.push(`${config.status}: somebody is let in`);
    } finally {
      await app.stop();
    }
    if (/\n\s+at /.test(await logOf(configDir))) faults.push('a stack trace');
  } catch (error) {
    faults.push(`no start: ${errorText(error)}`);
  } finally {
    const { busyMs } = await watch.end();
    if (busyMs > limitMs) faults.push(`the loop stood still for ${busyMs} ms`);
    await rm(configDir, { recursive: true, force: true });
  }
  return faults;
}

/** Whether the damage is what switches authentication off on purpose. */
function isSwitchedOff(files: readonly (readonly [string, string | Uint8Array])[]): boolean {
  const text = files.find(([name]) => name === 'users.json')?.[1];
  try {
    return JSON.parse(String(text)).enabled === false;
  } catch {
    return false;
  }
}

async function logOf(configDir: string): Promise<string> {
  const directory = path.join(configDir, 'log');
  const names = await readdir(directory);
  return (await Promise.all(names.map(name => readFile(path.join(directory, name), 'utf8')))).join('');
}
