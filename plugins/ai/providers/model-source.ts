// Tells where a model that a gateway lists runs, from its name, or else from the other members of its entry.
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { isObject } from '#kit/plain-object';
import type { ModelEntry } from '../contract.ts';

type Source = NonNullable<ModelEntry['source']>;
type Markers = Readonly<Record<'local' | 'external', readonly string[]>>;

/** Members in which gateways name the origin of a model. */
const FACTS = [
  ['owned_by'],
  ['provider'],
  ['connection_type'],
  ['connection'],
  ['backend'],
  ['info', 'owned_by'],
  ['info', 'meta', 'source'],
  ['info', 'meta', 'provider'],
  ['info', 'meta', 'base_model_id'],
];

export interface FoundSource {
  readonly source: Source;
  /** What the source was read from. */
  readonly source_detail?: string;
}

export class ModelSources {
  readonly #file: string;
  #markers: Promise<Markers> | undefined;

  constructor(templatesDir: string) {
    this.#file = path.join(templatesDir, 'model-sources.json');
  }

  async sourceOf(name: string, entry: Readonly<Record<string, unknown>>): Promise<FoundSource> {
    // Read on first use, because most hosts never list models.
    this.#markers ??= readFile(this.#file, 'utf8').then(text => JSON.parse(text) as Markers);
    const markers = await this.#markers;
    const byName = markedAs(name, markers, ['local', 'external']);
    if (byName !== undefined) return { source: byName, source_detail: 'name' };
    const facts = FACTS.flatMap(place => {
      const value = place.reduce<unknown>((at, key) => (isObject(at) ? at[key] : undefined), entry);
      return typeof value === 'string' ? [value] : [];
    });
    const source = markedAs(facts.join(' '), markers, ['external', 'local']);
    return source === undefined ? { source: 'unknown' } : { source, source_detail: facts[0] ?? '' };
  }
}

function markedAs(text: string, markers: Markers, order: readonly ('local' | 'external')[]): Source | undefined {
  const lower = text.toLowerCase();
  return order.find(source => markers[source].some(marker => lower.includes(marker)));
}
