#!/usr/bin/env node
// The process: arguments in, a host run until a signal, an exit code out. Every failure is one line on stderr.
import { fileURLToPath } from 'node:url';
import { openConfig } from '../config/open.ts';
import { createHost, version } from '../host/host.ts';
import { readSettings } from '../host/settings.ts';
import { createEarlyLog } from '../log/early-log.ts';
import { type CommandLine, parseCommandLine, USAGE } from './command-line.ts';
import { writeExample } from './example.ts';
import { graphPicture } from './graph-picture.ts';
import { closeInheritedDescriptors } from './inherited-descriptors.ts';
import { lockInstance } from './instance-lock.ts';

const HEALTH_LIMIT_MS = 10_000;
/** A terminal and a package runner may both deliver one key press; only a later signal is a second one. */
const SECOND_SIGNAL_AFTER_MS = 1_000;

const templatesDir = fileURLToPath(new URL('../../templates', import.meta.url));

async function start({ configDir, plugins, example, pace }: CommandLine): Promise<number> {
  closeInheritedDescriptors();
  const unlock = await lockInstance(configDir);
  // Supervision goes on without a listener too, and nothing else would hold the process then.
  const alive = setInterval(() => undefined, 2 ** 30);
  try {
    if (example) await writeExample({ configDir, templatesDir });
    const host = await createHost({ configDir, pace, stdout: true, ...(plugins === undefined ? {} : { plugins }) });
    if (process.pid === 1) host.log.warn('running as PID 1: orphaned grandchildren are not reaped; use a minimal init');
    let firstMs: number | undefined;
    const onSignal = (): void => {
      firstMs ??= performance.now();
      if (performance.now() - firstMs > SECOND_SIGNAL_AFTER_MS) void host.force().finally(() => process.exit(1));
      else void host.stop();
    };
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, onSignal);
    return await host.stopped;
  } finally {
    clearInterval(alive);
    await unlock();
  }
}

async function check({ configDir, plugins }: CommandLine): Promise<number> {
  const host = await createHost({ configDir, dryRun: true, ...(plugins === undefined ? {} : { plugins }) });
  const problems = [
    ...host.configProblems(),
    ...host.plugins().flatMap(({ name, state, reason }) => (state === 'failed' ? [`plugin ${name}: ${reason}`] : [])),
  ];
  await host.stop();
  for (const problem of problems) console.error(problem);
  if (problems.length === 0) console.log(`${host.configFile} and ${host.plugins().length} plugins are fine`);
  return problems.length === 0 ? 0 : 1;
}

async function listPlugins({ configDir, plugins }: CommandLine): Promise<number> {
  const host = await createHost({ configDir, dryRun: true, ...(plugins === undefined ? {} : { plugins }) });
  for (const { name, state, reason, folder } of host.plugins()) {
    console.log([name.padEnd(20), state.padEnd(9), reason ?? folder].join(' '));
  }
  await host.stop();
  return 0;
}

/** Address of the running service, from the configuration. */
async function nativeBase({ configDir }: CommandLine): Promise<string> {
  const config = await openConfig({ configDir, log: createEarlyLog(), env: process.env });
  const { host, port } = readSettings(config.store.root()).api;
  await config.close();
  const target = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
  return `http://${target.includes(':') ? `[${target}]` : target}:${port}`;
}

async function health(line: CommandLine): Promise<number> {
  const url = `${await nativeBase(line)}/health`;
  const answer = await fetch(url, { signal: AbortSignal.timeout(HEALTH_LIMIT_MS) }).catch((error: Error) => {
    throw new Error(`nothing answers at ${url}; is the service running?`, { cause: error });
  });
  const body = (await answer.json().catch(() => ({}))) as { status?: string; details?: string };
  console.log([body.status ?? `HTTP ${answer.status}`, body.details].filter(Boolean).join(': '));
  return body.status === 'healthy' ? 0 : 1;
}

async function graph(line: CommandLine): Promise<number> {
  const { processName, scope } = line;
  const base = await nativeBase(line);
  try {
    process.stdout.write(await graphPicture({ base, processName, scope, token: process.env.STACKWARDEN_TOKEN }));
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw new Error(`nothing answers at ${base}; is the service running?`, { cause: error });
  }
  return 0;
}

async function main(): Promise<number> {
  const line = parseCommandLine(process.argv.slice(2), process.env);
  switch (line.command) {
    case 'help':
      process.stdout.write(USAGE);
      return 0;
    case 'version':
      console.log(version);
      return 0;
    case 'check':
      return check(line);
    case 'plugins':
      return listPlugins(line);
    case 'health':
      return health(line);
    case 'graph':
      return graph(line);
    case 'start':
      return start(line);
  }
}

// Whoever read the output may go away at any time; the log file holds every line, and the service goes on.
for (const output of [process.stdout, process.stderr]) output.on('error', () => undefined);

main().then(
  code => process.exit(code),
  (error: unknown) => {
    console.error(`stackwarden: ${error instanceof Error ? error.message : String(error)}`);
    process.exit(1);
  },
);
