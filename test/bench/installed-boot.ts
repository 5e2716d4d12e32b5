// The boot of twenty installed services with the plugins that install and update programs, against a boot without
// these: the time to the first answer and until all services run, and the processor time until then.
import { chmod, mkdir, readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { until } from '../support/until.ts';
import { type BuiltHost, cpuMs, makePlace, type Place, startBuilt } from './support/built-host.ts';
import { printFigure } from './support/figures.ts';

const SERVICES = 20;
const PAIRS = 5;
const LOOK_MS = 50;
const PROGRAM = '#!/bin/sh\n[ "$1" = version ] && echo v1.0.0 && exit\nexec sleep 86400\n';
const pluginsDir = fileURLToPath(new URL('../../dist/plugins', import.meta.url));
const MEASURED = /^(?:installs|updates|install-.*)$/;

interface Sample {
  readonly firstAnswerMs: number;
  readonly readyMs: number;
  readonly cpuMs: number;
}

/** Twenty services with their programs, and the records of their installation. */
async function makeInstalled(): Promise<Place> {
  const names = Array.from({ length: SERVICES }, (_, index) => `Own ${index}`);
  const place = await makePlace(configDir => {
    const instances = names.map((name, index) => {
      const directory = path.join(configDir, 'zurg', String(index));
      const file = path.join(directory, 'config.yml');
      const places = { config_dir: directory, config_file: file, command: path.join(directory, 'zurg') };
      const block = { enabled: true, process_name: name, port: 19_000 + index, api_key: 'key', auto_update: true };
      return [name, { ...block, ...places }];
    });
    const startup = { stabilization_seconds: 0, readiness_poll_interval_seconds: 0.1 };
    return { zurg: { instances: Object.fromEntries(instances) }, dumb: { startup } };
  });
  // The services' user must reach the directory.
  await chmod(place.configDir, 0o755);
  const records = path.join(place.configDir, 'installs');
  await mkdir(records, { mode: 0o700 });
  for (const index of names.keys()) {
    const directory = path.join(place.configDir, 'zurg', String(index));
    await mkdir(directory, { recursive: true });
    await writeFile(path.join(directory, 'zurg'), PROGRAM, { mode: 0o755 });
    const installed = { version: 'v1.0.0', installedAt: 1_700_000_000 };
    const record = { directory, user: null, installed, previous: null, swap: null };
    await writeFile(path.join(records, `${index}.json`), JSON.stringify(record), { mode: 0o600 });
  }
  return place;
}

async function boot(plugins: readonly string[]): Promise<Sample> {
  const place = await makeInstalled();
  const startedMs = performance.now();
  const host = await startBuilt(place, ['--plugins', plugins.join(',')]);
  try {
    await until(() => allRun(host), { intervalMs: LOOK_MS, what: 'all that run' });
    return { firstAnswerMs: host.firstAnswerMs, readyMs: performance.now() - startedMs, cpuMs: await cpuMs(host.pid) };
  } finally {
    await host.end('SIGTERM');
    await place.remove();
  }
}

async function allRun(host: BuiltHost): Promise<boolean> {
  const { processes } = await host.get<{ processes: readonly { status: string }[] }>('/process/service-statuses');
  return processes.filter(({ status }) => status === 'running').length === SERVICES;
}

const all = (await readdir(pluginsDir, { withFileTypes: true })).filter(entry => entry.isDirectory());
const names = all.map(({ name }) => name);
const without = names.filter(name => !MEASURED.test(name));
await boot(names);
const samples: Sample[] = [];
const baseline: Sample[] = [];
for (let pair = 0; pair < PAIRS; pair += 1) {
  const turns = [() => boot(names).then(one => samples.push(one)), () => boot(without).then(one => baseline.push(one))];
  for (const turn of pair % 2 === 0 ? turns : turns.toReversed()) await turn();
}
for (const [name, key] of [
  ['until the first answer', 'firstAnswerMs'],
  ['until all run', 'readyMs'],
  ['of the processor until all run', 'cpuMs'],
] as const)
  printFigure({
    name: `${SERVICES} installed services, ${name}`,
    unit: 'ms',
    runs: samples.map(sample => sample[key]),
    baseline: baseline.map(sample => sample[key]),
  });
