// The repairs of all servers: decides when one is due, and runs the tool while the server is stopped.
import { type Host, type Jobs, type NamedBlock, Problem } from '#core';
import { errorText } from '#kit/error-text';
import { endLeftOver } from '#kit/left-over';
import type { LaunchPlan } from '../process/contract.ts';
import { isIdle } from './idle.ts';
import { RepairSchedule } from './schedule.ts';
import { type RepairSettings, settingsOf } from './settings.ts';
import { obstacleOf, repairedBy, runTool } from './tool.ts';
import { TOOL } from './tool-log.ts';

/** How long a repair may take. Large libraries take most of an hour on a slow disk. */
export const LIMIT_MS = 2 * 60 * 60_000;
/** How much longer the hold on the server lasts, so that it can be started again within it. */
const MARGIN_MS = 15 * 60_000;

export class Repairs {
  readonly #host: Host;
  readonly #schedule = new RepairSchedule();
  /** When a repair before a start last ended, by process name; milliseconds since the epoch. */
  readonly #earlier = new Map<string, number>();
  readonly #told = new Map<string, string | undefined>();

  constructor(host: Host) {
    this.#host = host;
  }

  /** Begins a repair if one is due, the server does not run or nobody uses it, and no other work holds it. */
  async look(named: NamedBlock, jobs: Jobs): Promise<void> {
    const { processName, block } = named;
    const settings = settingsOf(block);
    const runs = jobs.list({ key: processName });
    if (runs.some(({ endedAt }) => endedAt === null)) return;
    const runsMs = [...runs.map(({ endedAt }) => endedAt ?? 0), this.#earlier.get(processName) ?? 0];
    if (!this.#schedule.isDue(processName, settings, runsMs, Date.now())) return;
    const obstacle = await obstacleOf(settings);
    if (obstacle !== undefined) {
      this.#tell(processName, obstacle);
      this.#schedule.putOff(processName, { ...settings, maxWaitMs: 0 }, Date.now());
    } else if ((await this.#isFree(named)) && !this.#isHeld(processName)) {
      this.#tell(processName, undefined);
      await jobs.start(processName);
    } else if (!this.#schedule.putOff(processName, settings, Date.now()))
      this.#tell(processName, 'the server was in use all the time, so it is tried again after another interval');
  }

  /**
   * Ends a tool that an earlier run of the host left behind, before the server or the tool is started. Throws a Problem
   * 409 when it cannot be ended.
   */
  async endLeftOver(processName: string): Promise<void> {
    const { log } = this.#host;
    try {
      if (await endLeftOver(repairedBy(this.#host, processName)))
        log.warn(`an earlier repair of the database of ${processName} had not ended, and was ended`);
    } catch (error) {
      throw new Problem(409, `${processName} cannot start: ${errorText(error)}; end that first`, { cause: error });
    }
  }

  /** Repairs before a start, which goes on even if the repair fails. */
  async beforeStart(plan: LaunchPlan, named: NamedBlock, settings: RepairSettings): Promise<void> {
    const { processName } = named;
    const obstacle = await obstacleOf(settings);
    this.#tell(processName, obstacle);
    if (obstacle !== undefined) return;
    const signal = AbortSignal.any([plan.signal, this.#host.signal, AbortSignal.timeout(LIMIT_MS)]);
    try {
      await this.#run(named, settings, signal);
    } catch (error) {
      this.#host.log.warn(`${TOOL} failed, and ${processName} starts all the same`, error);
    }
    this.#earlier.set(processName, Date.now());
    plan.signal.throwIfAborted();
  }

  /** Stops the server if it runs, and starts it again even if the repair fails: `signal` ends the tool only. */
  async repair(processName: string, signal: AbortSignal): Promise<void> {
    const { log } = this.#host;
    const supervisor = this.#host.use('process.supervisor');
    await supervisor.hold(
      processName,
      'its database is being repaired',
      async held => {
        const named = this.#host.use('config.store').findBlock(processName);
        if (named === undefined) return;
        const wasRunning = held.snapshot().pid !== null;
        if (wasRunning) await held.stop();
        try {
          await this.#run(named, settingsOf(named.block), AbortSignal.any([signal, held.signal]));
        } catch (error) {
          log.warn(`${TOOL} failed on the database of ${processName}`, error);
          throw error;
        } finally {
          // The hold may have ended already, with this plugin.
          if (wasRunning && this.#host.stopping === null)
            await (held.signal.aborted ? supervisor.start(processName, 'hold', TOOL) : held.start());
        }
      },
      { deadlineMs: LIMIT_MS + MARGIN_MS },
    );
  }

  async #run(named: NamedBlock, settings: RepairSettings, signal: AbortSignal): Promise<void> {
    await this.endLeftOver(named.processName);
    await runTool(this.#host, named, settings, signal);
    this.#host.log.info(`${TOOL} has looked after the database of ${named.processName}`);
  }

  async #isFree(named: NamedBlock): Promise<boolean> {
    const status = this.#host.use('process.supervisor').get(named.processName)?.status;
    if (status !== 'running') return status === 'stopped';
    try {
      return await isIdle(this.#host, named);
    } catch (error) {
      this.#tell(named.processName, errorText(error));
      return false;
    }
  }

  /** A repair during the hold of an update or the like would be refused, and would count as one all the same. */
  #isHeld(processName: string): boolean {
    return (this.#host.use('process.supervisor').get(processName)?.held ?? null) !== null;
  }

  /** Logs an obstacle once, until it changes or ends; undefined means that there is none. */
  #tell(processName: string, obstacle: string | undefined): void {
    if (obstacle !== undefined && this.#told.get(processName) !== obstacle)
      this.#host.log.warn(`the database of ${processName} is not repaired: ${obstacle}`);
    this.#told.set(processName, obstacle);
  }
}
