// Makes configuration blocks of misbehaving child processes; starts, stops and examines those.
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { readStat } from '../../plugins/process/supervise/proc-stat.ts';
import type { TestHost } from './host.ts';
import { until } from './until.ts';

const script = fileURLToPath(new URL('./kid.cjs', import.meta.url));

/** A block whose command is the child process with the given habit and its arguments. */
export function kid(
  processName: string,
  command: readonly string[],
  more: Record<string, unknown> = {},
): Record<string, unknown> {
  return {
    enabled: false,
    process_name: processName,
    command: [process.execPath, script, ...command],
    suppress_logging: true,
    stop_grace_seconds: 1,
    ...more,
  };
}

/** The pid that a child process writes into a file. */
export function notedPid(file: string): Promise<number> {
  return until(async () => Number(await readFile(file, 'utf8')), { what: `a pid in ${file}` });
}

export function lives(pid: number): boolean {
  const stat = readStat(pid);
  return stat !== null && stat.state !== 'Z';
}

export const start = (app: TestHost, name: string) => app.post('/process/start-service', { process_name: name });
export const stop = (app: TestHost, name: string) => app.post('/process/stop-service', { process_name: name });
export const restart = (app: TestHost, name: string) => app.post('/process/restart-service', { process_name: name });

export async function status(app: TestHost, name: string) {
  return (await app.get(`/process/service-status?include_health=true&process_name=${encodeURIComponent(name)}`)).body;
}

/** The pid of a managed process, from the supervisor's state file; undefined when none is recorded. */
export async function pidOf(app: TestHost, name: string): Promise<number> {
  const record = await until(
    async () => {
      const state = JSON.parse(await readFile(`${app.configDir}/supervisor/state.json`, 'utf8'));
      const found = state.processes[name] ?? {};
      // A pid of 0 is never returned: a signal to 0 would end this process and its whole group.
      return found.pid !== 0 && found;
    },
    { what: 'the end of a launch' },
  );
  return record.pid;
}
