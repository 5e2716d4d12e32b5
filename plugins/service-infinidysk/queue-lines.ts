// The lines of the log of InfiniDysk that tell of its queue.
import type { LinePattern } from '../ai/contract.ts';

/** Groups: which item, and after how many seconds. */
const ENDED = /\(([\da-f-]{32,36})\) (?:in|after) (\d{1,9}(?:\.\d{1,9})?) seconds/i;

/** Those of the last have milliseconds in their group. */
export const QUEUE_LINES: readonly LinePattern[] = [
  { word: 'completed queue item', pattern: ENDED },
  { word: 'failed queue item', pattern: ENDED },
  { word: 'play-timing nzo=', pattern: /\bfirstSeg=(\d{1,9})ms/i },
];
export const [COMPLETED, , PLAYED] = QUEUE_LINES.keys();
