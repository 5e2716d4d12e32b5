// What is known about models: when they end, and whether they can answer in text.
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import type { Logger } from '#core';
import type { ModelEnd, ModelFit } from '../contract.ts';
import type { FoundProvider } from './providers.ts';

export interface ModelLifecycle {
  readonly model: string;
  /** `retired` from the day of the end on, in UTC. */
  readonly status: 'deprecated' | 'retired';
  readonly shutdown_date: string;
  readonly replacement: string;
  readonly source_url: string;
  /** The stored spelling of the provider. */
  readonly provider: string;
}

export type ModelCompatibility = ModelFit & { readonly model: string };

const MAX_CHAIN = 20;
const OVERRIDE_FILE = path.join('ai-diagnostics', 'models.json');
const MAX_OVERRIDE_BYTES = 1024 * 1024;
const overrideSchema = z.lazy(() =>
  z.record(
    z.string(),
    z.array(z.object({ model: z.string().min(1), shutdown_date: z.iso.date(), replacement: z.string() })),
  ),
);

type Overrides = Readonly<Record<string, readonly ModelEnd[]>>;

/** Facts about models from their providers. For each model that it names, a file of the owner comes first. */
export class Models {
  #overrides: Overrides = {};
  #log: Pick<Logger, 'warn'> | undefined;
  /** Providers whose failure was logged already. */
  readonly #told = new Set<string>();

  /**
   * Reads `ai-diagnostics/models.json` of the configuration directory: lists of `model`, `shutdown_date` and
   * `replacement` by provider. A file that does not fit is ignored with a warning.
   */
  async load(configDir: string, log: Logger): Promise<void> {
    this.#log = log;
    const file = path.join(configDir, OVERRIDE_FILE);
    try {
      const text = await readFile(file, 'utf8');
      if (text.length > MAX_OVERRIDE_BYTES) throw new Error('it is larger than 1 MiB');
      this.#overrides = overrideSchema.parse(JSON.parse(text));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
      log.warn(`${file} is ignored: it holds lists of model, shutdown_date and replacement by provider`, error);
    }
  }

  /** null for a model whose end is not known. */
  lifecycleOf({ descriptor, spelling }: FoundProvider, model: string): ModelLifecycle | null {
    const { value, models } = descriptor;
    const ends = endsOf([...(models?.lifecycle ?? []), ...(this.#overrides[value] ?? [])]);
    const end = ends.get(nameOf(model));
    if (end === undefined) return null;
    return {
      model: model.trim(),
      status: hasEnded(end) ? 'retired' : 'deprecated',
      shutdown_date: end.shutdown_date,
      replacement: livingReplacement(end, ends),
      source_url: models?.sourceUrl ?? '',
      provider: spelling,
    };
  }

  /** null for a blank model, and when the provider says nothing or fails. */
  compatibilityOf({ descriptor }: FoundProvider, model: string): ModelCompatibility | null {
    const name = nameOf(model);
    if (name === '') return null;
    try {
      const fit = descriptor.compatibility?.(name) ?? null;
      return fit === null ? null : { model: model.trim(), ...fit };
    } catch (error) {
      const { value } = descriptor;
      if (!this.#told.has(value)) this.#log?.warn(`the AI provider ${value} cannot tell of its models`, error);
      this.#told.add(value);
      return null;
    }
  }
}

/** The ends by the name of the model; a later one replaces an earlier one. */
function endsOf(ends: readonly ModelEnd[]): ReadonlyMap<string, ModelEnd> {
  return new Map(ends.map(end => [nameOf(end.model), end]));
}

/** The first model in the chain of replacements that has not ended itself. */
function livingReplacement(end: ModelEnd, ends: ReadonlyMap<string, ModelEnd>): string {
  let { replacement } = end;
  for (let step = 0; step < MAX_CHAIN; step += 1) {
    const next = ends.get(nameOf(replacement));
    if (next === undefined || !hasEnded(next)) return replacement;
    ({ replacement } = next);
  }
  return replacement;
}

function hasEnded({ shutdown_date: date }: ModelEnd): boolean {
  return new Date().toISOString().slice(0, 10) >= date;
}

/** Vendors list models below `models/`. */
function nameOf(model: string): string {
  return model
    .trim()
    .toLowerCase()
    .replace(/^models\//, '');
}
