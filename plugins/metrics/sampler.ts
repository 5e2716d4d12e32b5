// The only sampler: all callers get the newest sample, and callers at the same time share the taking of a new one.
import type { Host } from '#core';
import { timeAt } from '#kit/boot-clock';
import { turnWithTime } from '#kit/turns';
import type {} from '../process/contract.ts';
import type {} from '../services/contract.ts';
import { configuredPorts, placesOf } from './block-facts.ts';
import { collect } from './collectors.ts';
import type { ManagedUsage, MetricsSampler, Sample } from './contract.ts';
import { FileSystems, type PlaceList, placeList } from './file-systems.ts';
import { MachineMeter } from './machine.ts';
import { NetworkMeter, totalOf } from './network.ts';
import { procText } from './proc-text.ts';
import { ProcessMeter, type TreeUsage } from './process-usage.ts';
import { readSettings } from './settings.ts';
import { sampleToKept, sampleToWire } from './wire.ts';

const MS_PER_S = 1_000;
/** How old a sample may be that answers a request. */
const DEFAULT_AGE_MS = 2_000;

interface BlockFacts {
  readonly ports: readonly number[];
  readonly places: PlaceList;
}

const NO_FACTS: BlockFacts = { ports: [], places: placeList([]) };

export class Sampler implements MetricsSampler {
  readonly fileSystems = new FileSystems();
  readonly network = new NetworkMeter();
  readonly #host: Host;
  readonly #machine = new MachineMeter();
  readonly #processes = new ProcessMeter();
  readonly #answers = new WeakMap<Sample, ReturnType<typeof sampleToWire>>();
  readonly #texts = new WeakMap<Sample, string>();
  #newest: { readonly atMs: number; readonly sample: Sample } | undefined;
  #next: Promise<Sample> | undefined;
  #facts:
    | {
        readonly blocks: unknown;
        readonly templates: unknown;
        readonly dataRoot: unknown;
        readonly byName: ReadonlyMap<string, BlockFacts>;
      }
    | undefined;

  constructor(host: Host) {
    this.#host = host;
  }

  sample(maxAgeMs = DEFAULT_AGE_MS): Promise<Sample> {
    const newest = this.#newest;
    if (newest !== undefined && performance.now() - newest.atMs <= maxAgeMs) return Promise.resolve(newest.sample);
    this.#next ??= this.#take().finally(() => {
      this.#next = undefined;
    });
    return this.#next;
  }

  /** The answer of `GET /metrics`; frozen, so that it is made into text once. */
  answer(sample: Sample): ReturnType<typeof sampleToWire> {
    const known = this.#answers.get(sample) ?? Object.freeze(sampleToWire(sample));
    this.#answers.set(sample, known);
    return known;
  }

  text(sample: Sample): string {
    const known = this.#texts.get(sample) ?? JSON.stringify(this.answer(sample));
    this.#texts.set(sample, known);
    return known;
  }

  kept(sample: Sample): Readonly<Record<string, unknown>> {
    return sampleToKept(sample, this.#host.contributions('metrics.collector'));
  }

  close(): void {
    this.fileSystems.close();
    this.#processes.close();
  }

  async #take(): Promise<Sample> {
    const settings = readSettings(this.#host.use('config.store').get('dumb.metrics'));
    const atMs = performance.now();
    const timestamp = Date.now() / MS_PER_S;
    const running = (this.#host.find('process.supervisor')?.list() ?? []).filter(
      ({ isHost, pid }) => !isHost && pid !== null,
    );
    const machine = this.#machine.read(settings.scope);
    const interfaces = this.network.read(settings.interfaces);
    await turnWithTime();
    const [fileSystems, processes] = await Promise.all([
      this.fileSystems.read(settings.paths),
      this.#processes.read(running, new Set(this.fileSystems.pids())),
    ]);
    const collected = await collect(this.#host, processes.managed);
    await turnWithTime();
    const sample: Sample = {
      timestamp,
      system: {
        ...machine,
        fileSystems,
        interfaces,
        network: totalOf(interfaces),
        bootedAt: timeAt(0),
        containerStartedAt: startOfFirstProcess(),
      },
      managed: this.#withFacts(processes.managed),
      external: processes.external,
      collected,
    };
    this.#newest = { atMs, sample };
    return sample;
  }

  #withFacts(trees: readonly TreeUsage[]): ManagedUsage[] {
    const facts = this.#factsNow();
    const lists: PlaceList[] = [];
    const managed = trees.map(tree => {
      const { ports, places } = facts.get(tree.processName) ?? NO_FACTS;
      lists.push(places);
      // Member by member, because V8 copies the rest of a destructured object slowly.
      return {
        processName: tree.processName,
        pid: tree.pid,
        startedAt: tree.startedAt,
        cpuPercent: tree.cpuPercent,
        rssBytes: tree.rssBytes,
        virtualBytes: tree.virtualBytes,
        threads: tree.threads,
        disk: tree.disk,
        ports: tree.ports,
        connections: tree.connections,
        processCount: tree.processCount,
        configuredPorts: ports,
        places: this.fileSystems.places(places),
      };
    });
    this.fileSystems.keepPlaces(lists);
    return managed;
  }

  /** The facts of the blocks, by process name; read again when the configuration or the templates have changed. */
  #factsNow(): ReadonlyMap<string, BlockFacts> {
    const store = this.#host.use('config.store');
    const templates = this.#host.find('service.templates');
    const blocks = this.#host.find('process.supervisor')?.blocks() ?? store.blocks();
    const dataRoot = store.get('data_root');
    const known = this.#facts;
    if (known?.blocks === blocks && known.templates === templates && known.dataRoot === dataRoot) return known.byName;
    const mounts = blocks.filter(({ block }) => block.enabled === true).map(block => templates?.mountOf(block));
    const shared = [dataRoot, ...mounts].filter(place => typeof place === 'string');
    const byName = new Map(
      blocks.map(({ processName, block }) => [
        processName,
        { ports: configuredPorts(block), places: placeList(placesOf(block, shared)) },
      ]),
    );
    this.#facts = { blocks, templates, dataRoot, byName };
    return byName;
  }
}

let firstProcessTicks: number | undefined;

/** Process 1 lives as long as the machine or the container, so its start is read once. */
function startOfFirstProcess(): number | null {
  if (firstProcessTicks === undefined) {
    const text = procText('/proc/1/stat');
    if (text === null) return null;
    firstProcessTicks = Number(text.slice(text.lastIndexOf(')') + 2).split(' ')[19]);
  }
  return timeAt(firstProcessTicks);
}
