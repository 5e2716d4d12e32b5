// How often a seeded test repeats, and its random numbers. The suite repeats a few times; STACKWARDEN_TEST_ROUNDS sets
// more.
export function rounds(few: number): number {
  return Number(process.env.STACKWARDEN_TEST_ROUNDS ?? few);
}

/**
 * Returns a function that gives a whole number below its argument. The seed is STACKWARDEN_TEST_SEED, and is printed.
 */
export function randomNumbers(t: { comment(text: string): void }): (below: number) => number {
  let seed = Number(process.env.STACKWARDEN_TEST_SEED ?? 1);
  t.comment(`seed ${seed}`);
  return below => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((seed / 2_147_483_648) * below);
  };
}
