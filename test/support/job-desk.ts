// A plugin whose jobs end when the test says so, on a host of its own.
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Test } from 'tap';
import type { Job, Jobs } from '../../core/contract/job.ts';
import { testDir } from './directory.ts';
import { startHost, type TestHostOptions } from './host.ts';
import { until } from './until.ts';

export interface Desk {
  jobs: Jobs;
  /** Ends the work of the job with this key; an Error makes the job fail. */
  finish(key: string, outcome?: unknown): void;
  readonly begun: string[];
  /** Keys of jobs whose work ignores its signal. */
  readonly deaf: Set<string>;
}

export const desks = new Map<string, Desk>();
Object.assign(globalThis, { desksOfJobs: desks });

/** The source of the plugin; `kind` is source text of further members of its kind of job. */
export const source = (desk: string, kind: string) => `let z
export default { name: 'worker', host: '^1', config: zod => { z = zod; return z.object({ turn: z.number().default(0) }) }, async setup (host) {
  const desk = globalThis.desksOfJobs.get('${desk}')
  const waiting = new Map()
  desk.finish = (key, outcome) => waiting.get(key)(outcome)
  desk.jobs = await host.jobs('work', {
    run: job => new Promise((resolve, reject) => {
      desk.begun.push(job.key)
      desk.run = job
      waiting.set(job.key, outcome => outcome instanceof Error ? reject(outcome) : resolve(outcome))
      if (!desk.deaf.has(job.key)) job.signal.addEventListener('abort', () => reject(job.signal.reason))
    }),
    ${kind}
  })
} }`;

export async function work(
  t: Test,
  kind = '',
  configDir = testDir(t),
  options: Pick<TestHostOptions, 'deadlines'> = {},
) {
  const desk: Desk = { jobs: undefined as never, finish: () => undefined, begun: [], deaf: new Set() };
  desks.set(t.name, desk);
  await mkdir(path.join(configDir, 'plugins', 'worker'), { recursive: true });
  await writeFile(path.join(configDir, 'plugins', 'worker', 'index.js'), source(t.name, kind));
  const app = await startHost({ configDir, config: {}, plugins: ['worker'], ...options });
  t.teardown(() => app.stop());
  const report = () => app.host.plugins().find(plugin => plugin.name === 'worker');
  return { desk, app, configDir, report, directory: path.join(configDir, 'jobs', 'worker', 'work') };
}

/** Starts a job and waits until its work begins. */
export async function begin(desk: Desk, key: string): Promise<Job> {
  const { length } = desk.begun;
  const job = await desk.jobs.start(key);
  await until(() => desk.begun.length > length, { what: `the work of ${key}` });
  return job;
}
