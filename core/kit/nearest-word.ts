// Finds the word that was probably meant by a misspelt one.

/** Shorter words are not compared, because one slip turns them into any other. */
const MIN_LENGTH = 3;
/** A word must have this many letters to stand for a longer one that begins with it. */
const MIN_BEGINNING = 4;

/**
 * The known word that differs by one or two typing slips, else the only one that begins with the given word and `_`;
 * undefined without one.
 */
export function nearestWord(word: string, known: Iterable<string>): string | undefined {
  if (word.length < MIN_LENGTH) return undefined;
  const most = word.length < 5 ? 1 : 2;
  let nearest: string | undefined;
  let least = most + 1;
  for (const candidate of known) {
    if (Math.abs(candidate.length - word.length) > most) continue;
    const slips = slipsBetween(word.toLowerCase(), candidate.toLowerCase());
    if (slips >= least) continue;
    nearest = candidate;
    least = slips;
  }
  if (nearest !== undefined || word.length < MIN_BEGINNING) return nearest;
  const longer = [...known].filter(candidate => candidate.startsWith(`${word}_`));
  return longer.length === 1 ? longer[0] : undefined;
}

/** How many letters were added, left out, replaced, or swapped with their neighbour. */
function slipsBetween(left: string, right: string): number {
  let previous: number[] = [];
  let current = Array.from({ length: right.length + 1 }, (_unused, column) => column);
  for (let row = 1; row <= left.length; row += 1) {
    const beforePrevious = previous;
    previous = current;
    current = [row];
    for (let column = 1; column <= right.length; column += 1) {
      const isSame = left[row - 1] === right[column - 1];
      const isSwap =
        row > 1 && column > 1 && left[row - 1] === right[column - 2] && left[row - 2] === right[column - 1];
      current[column] = Math.min(
        (previous[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (previous[column - 1] ?? 0) + (isSame ? 0 : 1),
        isSwap ? (beforePrevious[column - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY,
      );
    }
  }
  return current[right.length] ?? left.length;
}
