// The signals of the product's own plugins, in the order of the truth table, with their ranks for contradicting
// relations.
import { readFile } from 'node:fs/promises';
import { z } from 'zod';

const ownSignals = z.array(
  z.strictObject({ signal: z.string(), rank: z.int().min(0).describe('higher: it says how things really start') }),
);

export type OwnSignal = z.output<typeof ownSignals>[number];

export async function readOwnSignals(file: string): Promise<readonly OwnSignal[]> {
  return ownSignals.parse(JSON.parse(await readFile(file, 'utf8')));
}
