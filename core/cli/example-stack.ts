// The configuration of the example: templates/example-stack.json, in which names in angle brackets stand for values
// that depend on the machine.
import { readFile } from 'node:fs/promises';

const FILE = new URL('../../templates/example-stack.json', import.meta.url);
const NAME = /<(\w+)>/g;

export interface ExampleFacts {
  /** Folder of the example's programs. */
  readonly directory: string;
  readonly node: string;
  readonly log_dir: string;
  /**
   * Port of the web server. It is chosen here, not at the first start, because the worker's configuration has it too.
   */
  readonly free_port: number;
}

export async function exampleStack(facts: ExampleFacts): Promise<Record<string, unknown>> {
  const known = new Map<string, unknown>(Object.entries(facts));
  // A text that is nothing but a name becomes the value itself, which may be a number.
  const filled = (text: string): unknown =>
    known.get(/^<(\w+)>$/.exec(text)?.[1] ?? '') ??
    text.replaceAll(NAME, (whole, name: string) => String(known.get(name) ?? whole));
  return JSON.parse(await readFile(FILE, 'utf8'), (_key, value) => (typeof value === 'string' ? filled(value) : value));
}
