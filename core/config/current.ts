// The configuration in force: its layers, and everything derived from them. Only an update or the file changes it.
import { createHash } from 'node:crypto';
import type { ConfigObject, NamedBlock } from '../contract/config.ts';
import { deepFreeze } from '../kit/deep-freeze.ts';
import { findBlocks } from '../kit/named-blocks.ts';
import { type Environment, type EnvironmentEdit, environmentEdits, type UnusedVariable } from './environment.ts';
import { type ConfigEdit, merge, withEdits } from './layers.ts';
import type { MainFile } from './main-file.ts';
import type { Place } from './marks.ts';
import { type ConfigSchema, describeIssue } from './schema.ts';

/** Everything that is derived from the layers and the schema. */
export interface Effective {
  readonly root: Readonly<ConfigObject>;
  readonly blocks: readonly NamedBlock[];
  /** The named blocks; the first of several with the same name wins. */
  readonly byName: ReadonlyMap<string, NamedBlock>;
  readonly disabledBlocks: ReadonlyMap<string, string>;
  readonly revision: string;
  /** The edits that the environment layer makes. */
  readonly overrides: readonly EnvironmentEdit[];
  readonly unusedVariables: readonly UnusedVariable[];
  /** The root place, from which the marks of every other place are found. */
  readonly place: Place;
}

interface Merged {
  readonly root: ConfigObject;
  readonly overrides: readonly EnvironmentEdit[];
  readonly unusedVariables: readonly UnusedVariable[];
}

export interface CurrentConfigParts {
  readonly file: MainFile;
  readonly schema: ConfigSchema;
  readonly environment: Environment;
}

export class CurrentConfig {
  readonly #parts: CurrentConfigParts;
  #overlay: readonly ConfigEdit[] = [];
  #effective: Effective | undefined;

  constructor(parts: CurrentConfigParts) {
    this.#parts = parts;
  }

  /** Edits that exist in memory only and win over the environment. */
  get overlay(): readonly ConfigEdit[] {
    return this.#overlay;
  }

  set overlay(overlay: readonly ConfigEdit[]) {
    this.#overlay = overlay;
    this.outdate();
  }

  /** Discards what was derived, because the file or the schema changed. */
  outdate(): void {
    this.#effective = undefined;
  }

  /** Computed on demand, because plugins register many sections in a row. */
  effective(): Effective {
    this.#effective ??= this.#compute();
    return this.#effective;
  }

  /** The effective value that these layers would have. */
  merged(file: ConfigObject, overlay: readonly ConfigEdit[]): Merged {
    const { schema, environment } = this.#parts;
    const merged = merge(schema.defaults(file), file);
    const { edits, unused } = environmentEdits(merged, environment, schema.formerKeys());
    const root = schema.completed(withEdits(merged, [...edits, ...overlay]) as ConfigObject);
    return { root, overrides: edits, unusedVariables: unused };
  }

  #compute(): Effective {
    const { file, schema } = this.#parts;
    const merged = this.merged(file.value, this.#overlay);
    const disabledBlocks = new Map<string, string>();
    const disabling: ConfigEdit[] = [];
    for (const block of findBlocks(merged.root)) {
      const issues = schema.blockIssues(block);
      if (issues.length === 0) continue;
      disabledBlocks.set(block.processName, issues.map(describeIssue).join('; '));
      disabling.push({ path: [...block.path, 'enabled'], value: false });
    }
    const root = withEdits(merged.root, disabling) as ConfigObject;
    const blocks = findBlocks(root);
    return {
      root: deepFreeze(root),
      blocks,
      byName: new Map(blocks.toReversed().map(block => [block.processName, block])),
      disabledBlocks,
      revision: createHash('sha256').update(JSON.stringify(root)).digest('hex').slice(0, 16),
      overrides: merged.overrides,
      unusedVariables: merged.unusedVariables,
      place: schema.rootPlace(blocks),
    };
  }
}
