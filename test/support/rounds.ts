// How often a seeded test repeats: a few times in the suite, as often as STACKWARDEN_TEST_ROUNDS says for a long proof;
// and what it draws.
export function rounds(few: number): number {
  return Number(process.env.STACKWARDEN_TEST_ROUNDS ?? few);
}

/** Gives whole numbers below its argument, from STACKWARDEN_TEST_SEED, which is told. */
export function randomNumbers(t: { comment(text: string): void }): (below: number) => number {
  let seed = Number(process.env.STACKWARDEN_TEST_SEED ?? 1);
  t.comment(`seed ${seed}`);
  return below => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((seed / 2_147_483_648) * below);
  };
}
