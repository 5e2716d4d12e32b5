// What differs between the request managers, and between their releases, that speak the same public API.

export interface RequestManagerProduct {
  readonly version: string;
  /** Statuses of requests that a list without a filter holds. */
  readonly listed: readonly number[];
  /**
   * Whether a list without a filter leaves out requests whose title is blocklisted, and a creation of one is refused.
   */
  readonly hasBlocklist: boolean;
  /** The status that a request has once its title is available. */
  readonly availableStatus: number;
  /** Whether a title can be requested again once the first request is completed. */
  readonly takesRepeats: boolean;
  /** Whether `seasons: "all"` is understood. */
  readonly takesAllSeasons: boolean;
  /** Whether only a pending request can be edited; any other is a conflict. */
  readonly editsPendingOnly: boolean;
  /** Whether each page of a list waits for every media manager that is connected. */
  readonly asksMediaManagers: boolean;
  /** The status that answers a wrong key. */
  readonly refusal: 401 | 403;
}

export const REQUEST_MANAGERS = {
  /** The oldest: 4 and 5 are states of availability, lists leave them out, and all seasons must be named. */
  early: {
    version: '1.20.0',
    listed: [1, 2, 3],
    hasBlocklist: false,
    availableStatus: 5,
    takesRepeats: false,
    takesAllSeasons: false,
    editsPendingOnly: false,
    asksMediaManagers: false,
    refusal: 403,
  },
  /** A request stays approved when its title is available. */
  settled: {
    version: '1.33.2',
    listed: [1, 2, 3],
    hasBlocklist: false,
    availableStatus: 2,
    takesRepeats: false,
    takesAllSeasons: true,
    editsPendingOnly: false,
    asksMediaManagers: false,
    refusal: 403,
  },
  forked: {
    version: '2.5.2',
    listed: [1, 2, 3, 4, 5],
    hasBlocklist: true,
    availableStatus: 5,
    takesRepeats: true,
    takesAllSeasons: true,
    editsPendingOnly: false,
    asksMediaManagers: true,
    refusal: 403,
  },
  merged: {
    version: '3.0.1',
    listed: [1, 2, 3, 4, 5],
    hasBlocklist: true,
    availableStatus: 5,
    takesRepeats: true,
    takesAllSeasons: true,
    editsPendingOnly: true,
    asksMediaManagers: true,
    refusal: 401,
  },
} as const satisfies Record<string, RequestManagerProduct>;

export type RequestManagerName = keyof typeof REQUEST_MANAGERS;
