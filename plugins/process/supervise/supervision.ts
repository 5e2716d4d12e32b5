// What all supervised processes share: the host, the records, and the callbacks for what happens to them.
import type { Host, NamedBlock } from '#core';
import type { PlaceholderValues } from '#kit/placeholder-values';
import type { ExitRecord, LaunchPlan, LaunchPolicy, ProcessSnapshot, StopPolicy } from '../contract.ts';
import type { PortTurns } from '../launch/port-turns.ts';
import type { Companion } from '../launch/ports.ts';
import type { Predecessor } from '../launch/preparation.ts';
import type { RunUsers } from '../launch/run-user.ts';
import type { Processes } from '../launch/waits.ts';
import type { Holds } from './holds.ts';
import type { Leftover } from './leftover.ts';
import type { LineageWatch } from './lineage-watch.ts';
import type { RunParts } from './run.ts';
import type { WantedStates } from './wanted-states.ts';

export interface Supervision extends RunParts, Processes {
  readonly host: Host;
  readonly wanted: WantedStates;
  readonly holds: Holds;
  readonly lineage: LineageWatch;
  /** The process that had the entry of the block under another name, while it is held or has not ended. */
  predecessor(block: NamedBlock): Predecessor | undefined;
  prepare(plan: LaunchPlan): Promise<LaunchPlan>;
  onLaunching(plan: LaunchPlan): Promise<void>;
  onLaunched(plan: LaunchPlan, snapshot: ProcessSnapshot): Promise<void>;
  onStatus(snapshot: ProcessSnapshot): void;
  onStarted(snapshot: ProcessSnapshot): void;
  onExited(snapshot: ProcessSnapshot, exit: ExitRecord): void;
  readonly portCompanion: Companion;
  readonly portTurns: PortTurns;
  /** What an earlier host left behind that may hold one of these ports, and is being ended. */
  leftOn(ports: readonly number[]): Promise<readonly Leftover[]>;
  readonly users: RunUsers;
  stopPolicy(configKey: string): StopPolicy | undefined;
  launchPolicy(configKey: string): LaunchPolicy | undefined;
  /** Values from other plugins for `{name}` in commands and variables. */
  placeholders(block: NamedBlock): PlaceholderValues;
}
