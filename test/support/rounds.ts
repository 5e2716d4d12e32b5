// How often a seeded test repeats: a few times in the suite, as often as STACKWARDEN_TEST_ROUNDS says for a long proof.
export function rounds(few: number): number {
  return Number(process.env.STACKWARDEN_TEST_ROUNDS ?? few);
}
