// What differs between products, and between releases of request managers, that share a public API.

export interface RequestManagerProduct {
  readonly version: string;
  /** Statuses of requests that a list without a filter includes. */
  readonly listed: readonly number[];
  /**
   * Whether there is a blocklist: lists without a filter leave out requests for blocklisted titles, and new ones are
   * refused.
   */
  readonly hasBlocklist: boolean;
  /** The status of an approved request once its title is available. */
  readonly availableStatus: number;
  /** Whether a title can be requested again after its request is completed. */
  readonly takesRepeats: boolean;
  /** Whether `seasons: "all"` is accepted. */
  readonly takesAllSeasons: boolean;
  /** Whether only pending requests can be edited; an edit of any other is a conflict. */
  readonly editsPendingOnly: boolean;
  /** Whether each page of a list waits for all connected media managers. */
  readonly asksMediaManagers: boolean;
  /** The status of an answer to a wrong key. */
  readonly refusal: 401 | 403;
}

export const REQUEST_MANAGERS = {
  /**
   * The oldest release: statuses 4 and 5 are those of availability, lists leave them out, and each season must be
   * named.
   */
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
  /** A request stays approved when its title becomes available. */
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
