// An owner of routes and streams, of which a host has one for each plugin. It notes what ran and what failed.
import type { Logger } from '../../core/contract/log.ts';
import type { FaultPlace, Owner } from '../../core/kit/owner.ts';

export interface Fault {
  readonly plugin: string;
  readonly place: FaultPlace;
  readonly error: Error;
}

export interface OwnerNotes {
  readonly faults: Fault[];
  /** Names of the plugins whose code ran, in order. */
  readonly ran: string[];
}

const silent: Logger = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

export function testOwner(plugin: string, notes: OwnerNotes = { faults: [], ran: [] }): Owner {
  const fault = (place: FaultPlace, error: unknown): void => {
    notes.faults.push({ plugin, place, error: error as Error });
  };
  return {
    plugin,
    log: silent,
    signal: new AbortController().signal,
    fault,
    invoke(call, fn) {
      notes.ran.push(plugin);
      const failed = (error: unknown): never => {
        if (call.toldByCaller !== true) fault(call.place, error);
        throw error;
      };
      try {
        const value = fn();
        return value instanceof Promise ? (value.catch(failed) as typeof value) : value;
      } catch (error) {
        return failed(error);
      }
    },
  };
}
