// The duration of `stackwarden status` with 20 running services, from start to end of its process, and of `help`. The
// baseline is a Node process that starts and ends.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { makePlace, sleepers, startBuilt } from './support/built-host.ts';
import { printFigure } from './support/figures.ts';

const SERVICES = 20;
const RUNS = 25;
const WARM_UPS = 3;
const mainFile = fileURLToPath(new URL('../../dist/core/cli/main.js', import.meta.url));

async function timeMs(args: readonly string[]): Promise<number> {
  const startedMs = performance.now();
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  child.stdout.resume();
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`${args.join(' ')} ended with ${code}`);
  return performance.now() - startedMs;
}

const place = await makePlace(sleepers(SERVICES));
const host = await startBuilt(place);
const common = [mainFile, '--config-dir', place.configDir];
await timeMs([...common, 'start', ...Array.from({ length: SERVICES }, (_, index) => `Sleeper ${index}`)]);
const commands = { 'command-line-status': [...common, 'status'], 'command-line-help': [...common, 'help'] };
for (const [name, args] of Object.entries(commands)) {
  const runs: number[] = [];
  const baseline: number[] = [];
  // Runs alternate, so that other load on the machine affects both alike.
  for (let index = 0; index < WARM_UPS + RUNS; index += 1) {
    const bareMs = await timeMs(['-e', '0']);
    const ms = await timeMs(args);
    if (index < WARM_UPS) continue;
    baseline.push(bareMs);
    runs.push(ms);
  }
  printFigure({ name, unit: 'ms', runs, baseline });
}
await host.end('SIGTERM');
await place.remove();
