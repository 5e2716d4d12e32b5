// `stackwarden check`: prints each problem of the configuration and the plugins on one line. It changes nothing.
import { existsSync } from 'node:fs';
import { createHost } from '../host/host.ts';
import type { CommandLine } from './command-line.ts';

/** Resolves with 1 when there is a problem. */
export async function check({ configDir, plugins }: CommandLine): Promise<number> {
  if (!existsSync(configDir)) throw new Error(`there is no directory ${configDir}; name another with --config-dir`);
  const host = await createHost({ configDir, dryRun: true, ...(plugins === undefined ? {} : { plugins }) });
  const problems = [
    ...host.configProblems(),
    ...host.plugins().flatMap(({ name, state, reason }) => (state === 'failed' ? [`plugin ${name}: ${reason}`] : [])),
  ];
  await host.stop();
  for (const problem of problems) console.error(problem);
  if (problems.length > 0) return 1;
  const absent = existsSync(host.configFile) ? '' : ' (which the first start writes)';
  console.log(`${host.configFile}${absent} and ${host.plugins().length} plugins are fine`);
  return 0;
}
