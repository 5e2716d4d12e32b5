// The README's first commands in a fresh clone that only its owner can enter: all services of the example run.
import { chown, mkdir, mkdtemp, readFile, stat, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import t, { type Test } from 'tap';
import { type Checkout, checkOut } from '../../support/checkout.ts';
import { freePort } from '../../support/stackwarden.ts';
import { until } from '../../support/until.ts';

const asRoot = process.getuid?.() === 0;
const NOBODY = { uid: 65_534, gid: 65_534 };
const SERVICES = ['Example Web', 'Example Worker', 'Example Crasher'];

const exists = (place: string) =>
  stat(place).then(
    () => true,
    () => false,
  );

function lives(group: number): boolean {
  try {
    return process.kill(group, 0);
  } catch {
    return false;
  }
}

/** The command of the README, and the script that it runs after the build. */
const NPM_START = ['npm', 'start'] as const;
const BUILT_START = [process.execPath, 'dist/core/cli/main.js', 'start', '--example'] as const;

/** The directory in which the configuration lets programs run. */
async function placeOf({ directory }: Checkout): Promise<string> {
  const text = await readFile(path.join(directory, '.stackwarden', 'stackwarden.json'), 'utf8');
  return JSON.parse(text).example_worker.config_dir;
}

/** Runs a start command and waits until every service has run and done something. Returns a function that stops it. */
async function start(t: Test, { spawn }: Checkout, [program, ...words]: readonly [string, ...string[]]) {
  const port = await freePort();
  const ports = { DUMB_API_SERVICE_PORT: String(port), DUMB_GATEWAY_PORT: String(await freePort()) };
  const child = spawn(program, words, ports);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', text => {
      output += text;
    });
  }
  const group = -(child.pid ?? 0);
  const stop = async (): Promise<void> => {
    if (lives(group)) process.kill(group, 'SIGTERM');
    // The package runner may end before the program that it started.
    await until(() => !lives(group), { what: 'the end of everything' });
  };
  t.teardown(stop);
  const ask = async (route: string) =>
    (await fetch(`http://127.0.0.1:${port}${route}`)).json() as Promise<Record<string, string>>;
  const isReady = async () => (await ask('/process/startup-status')).phase === 'ready';
  await until(async () => child.exitCode !== null || isReady(), { timeoutMs: 180_000 }).catch((error: Error) => {
    throw new Error(`${error.message}: ${output}`, { cause: error });
  });
  t.equal(child.exitCode, null, output);
  for (const name of SERVICES) {
    const route = `/process/service-status?process_name=${encodeURIComponent(name)}`;
    await until(async () => (await ask(route)).status === 'running', { what: name });
  }
  await until(async () => /item 1 done/.test((await ask('/logs?process_name=Example%20Worker')).chunk ?? ''));
  return stop;
}

t.test('the example runs as root', { timeout: 500_000, skip: asRoot ? false : 'needs root' }, async t => {
  const checkout = await checkOut(t);
  const stop = await start(t, checkout, NPM_START);
  const place = await placeOf(checkout);
  t.match(path.basename(place), /^stackwarden-example-/, 'a place of its own');
  const { uid, mode } = await stat(place);
  t.same([uid, mode & 0o777], [0, 0o755], 'that nobody else can write');
  await stop();
  t.notOk(await exists(place), 'it is gone when the example has ended');

  const script = path.join(checkout.directory, '.stackwarden', 'example', 'worker.js');
  await writeFile(script, (await readFile(script, 'utf8')).replace('item', 'changed item'));
  const forgotten = await mkdtemp(path.join(path.dirname(place), 'stackwarden-example-'));
  await writeFile(path.join(forgotten, '.named-by'), path.join(forgotten, 'no', 'such', 'record'));
  await utimes(path.join(forgotten, '.named-by'), 0, 0);
  const stopAgain = await start(t, checkout, BUILT_START);
  t.equal(await placeOf(checkout), place, 'it is found again');
  t.match(await readFile(path.join(place, 'worker.js'), 'utf8'), 'changed item', 'with what was changed meanwhile');
  t.notOk(await exists(forgotten), 'one whose example was deleted is gone');
  await stopAgain();

  await mkdir(place);
  await writeFile(path.join(place, 'worker.js'), 'process.exit(66)');
  await chown(place, NOBODY.uid, NOBODY.gid);
  const stopAtLast = await start(t, checkout, BUILT_START);
  t.not(await placeOf(checkout), place, 'what somebody else put there is not used');
  t.equal(await readFile(path.join(place, 'worker.js'), 'utf8'), 'process.exit(66)', 'nor touched');
  await stopAtLast();
  t.teardown(() => checkout.run('rm', ['-r', place]));
});

t.test('the example runs as an ordinary user', { timeout: 200_000 }, async t => {
  const checkout = await checkOut(t, asRoot ? NOBODY : undefined);
  const stop = await start(t, checkout, NPM_START);
  t.equal(await placeOf(checkout), path.join(checkout.directory, '.stackwarden', 'example'));
  await stop();
});
