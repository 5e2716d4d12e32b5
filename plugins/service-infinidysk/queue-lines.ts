// Patterns of the lines about the queue in InfiniDysk's log.
import type { LinePattern } from '../ai/contract.ts';

/** Groups: the id of the item, and the seconds that it took. */
const ENDED = /\(([\da-f-]{32,36})\) (?:in|after) (\d{1,9}(?:\.\d{1,9})?) seconds/i;

/** The group of the last pattern is in milliseconds. */
export const QUEUE_LINES: readonly LinePattern[] = [
  { word: 'completed queue item', pattern: ENDED },
  { word: 'failed queue item', pattern: ENDED },
  { word: 'play-timing nzo=', pattern: /\bfirstSeg=(\d{1,9})ms/i },
];
export const [COMPLETED, , PLAYED] = QUEUE_LINES.keys();
