// The boot of sixty processes in ten layers, each of which waits for the layer before, against the time of the longest
// chain.
import { setTimeout as delay } from 'node:timers/promises';
import { makePlace, startBuilt } from './support/built-host.ts';
import { printFigure } from './support/figures.ts';

const LAYERS = 10;
const WIDTH = 6;
const RUNS = 2;
const MS_PER_S = 1_000;
const LOOK_MS = 50;
/** A process counts as started when it has run for this long. */
const OBSERVATION_MS = 2_000;

interface Status {
  readonly terminal: boolean;
  readonly critical_chain: readonly { readonly waited_seconds: number; readonly start_seconds: number }[];
}

function layers(): Record<string, unknown> {
  const name = (layer: number, place: number) => `Layer ${layer} ${place}`;
  return Object.fromEntries(
    Array.from({ length: LAYERS * WIDTH }, (_, index) => {
      const [layer, place] = [Math.floor(index / WIDTH), index % WIDTH];
      const needs = Array.from({ length: WIDTH }, (_none, other) => name(layer - 1, other));
      const block = { enabled: true, process_name: name(layer, place), command: ['sleep', '86400'], config_dir: '/' };
      return [`service_${index}`, layer === 0 ? block : { ...block, core_service: needs }];
    }),
  );
}

const runs: number[] = [];
const chains: number[] = [];
const stops: number[] = [];
for (let run = 0; run < RUNS; run += 1) {
  const startup = { stabilization_seconds: 0, readiness_poll_interval_seconds: 0.1 };
  const place = await makePlace({ ...layers(), dumb: { startup } });
  const host = await startBuilt(place);
  const startedMs = performance.now();
  let status = await host.get<Status>('/process/startup-status');
  while (!status.terminal) {
    await delay(LOOK_MS);
    status = await host.get<Status>('/process/startup-status');
  }
  runs.push(performance.now() - startedMs);
  chains.push(status.critical_chain.reduce((sum, link) => sum + link.start_seconds, 0) * MS_PER_S);
  const stoppingMs = performance.now();
  await host.end('SIGTERM');
  stops.push(performance.now() - stoppingMs);
  await place.remove();
}
printFigure({ name: 'boot-10-layers', unit: 'ms', runs, baseline: chains });
printFigure({ name: 'boot-10-layers-chain', unit: 'ms', runs: chains, baseline: [LAYERS * OBSERVATION_MS] });
printFigure({ name: 'stop-10-layers', unit: 'ms', runs: stops, baseline: chains });
