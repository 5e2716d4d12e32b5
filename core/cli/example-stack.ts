// The configuration of the example, which templates/example-stack.json has with names in angle brackets for what a
// machine decides.
import { readFile } from 'node:fs/promises';

const FILE = new URL('../../templates/example-stack.json', import.meta.url);
const NAME = /<(\w+)>/g;

export interface ExampleFacts {
  /** Folder of its programs. */
  readonly directory: string;
  readonly node: string;
  readonly log_dir: string;
  /** The worker's configuration has it, too, so it is chosen here instead of at the first start. */
  readonly free_port: number;
}

export async function exampleStack(facts: ExampleFacts): Promise<Record<string, unknown>> {
  const known = new Map<string, unknown>(Object.entries(facts));
  // A text that is nothing but a name becomes what that stands for, also a number.
  const filled = (text: string): unknown =>
    known.get(/^<(\w+)>$/.exec(text)?.[1] ?? '') ??
    text.replaceAll(NAME, (whole, name: string) => String(known.get(name) ?? whole));
  return JSON.parse(await readFile(FILE, 'utf8'), (_key, value) => (typeof value === 'string' ? filled(value) : value));
}
