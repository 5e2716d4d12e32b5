// Edits YAML: the ranges of changed values are replaced, every other byte is kept. A text is parsed once for all edits.
import { isMap, YAMLMap } from 'yaml';
import { Problem } from '../contract/problem.ts';
import { finiteData } from './finite-data.ts';
import { mergedValues } from './merged-values.ts';
import { applySplices, type Splice } from './text-splice.ts';
import { parseYaml, withLineFeeds, yamlData } from './yaml-document.ts';
import { YamlEditPlan } from './yaml-edit-plan.ts';

type Values = Record<string, unknown>;
/** Whether members that are not wanted stay (`merge`) or go (`replace`). */
type YamlEditMode = 'merge' | 'replace';

const BYTE_ORDER_MARK = '\uFEFF';

/** The values of a text. Throws a Problem 422 with line and column unless it is one document that is a mapping. */
export function yamlValues(text: string): Values {
  return parseMapping(text).values;
}

/**
 * A YAML text that is edited. `apply` throws a Problem 400 for a change that cannot be made safely, and a Problem 422
 * when the text is not valid.
 */
export class YamlEditor {
  /** The text without its byte order mark, which would be counted as a column of the first line. */
  #text: string;
  #changed = 0;
  readonly #mark: string;
  readonly #lineEnding: string;

  constructor(text: string) {
    this.#mark = text.startsWith(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK : '';
    this.#text = text.slice(this.#mark.length);
    const isCarriageReturn = text.includes('\r') && !text.includes('\n');
    this.#lineEnding = text.includes('\r\n') ? '\r\n' : isCarriageReturn ? '\r' : '\n';
  }

  get text(): string {
    return this.#mark + this.#text;
  }

  /** Number of values that were changed so far. */
  get changed(): number {
    return this.#changed;
  }

  /**
   * Merges the wanted values into the document; `replace` also removes the members that are not wanted. `wanted` may be
   * a function of the present values.
   */
  apply(wanted: Values | ((present: Values) => Values), mode: YamlEditMode): void {
    const { map, values: read } = parseMapping(this.#text);
    // The values as clients get them and may send them back.
    const values = finiteData(read);
    const splices: Splice[] = [];
    const plan = new YamlEditPlan(withLineFeeds(this.#text), map, this.#lineEnding, splices);
    const sent = typeof wanted === 'function' ? wanted(values) : wanted;
    // Values are merged here, because those that come from an alias or a merge key have their members elsewhere.
    plan.members(map, values, mode === 'merge' ? (mergedValues(values, sent) as Values) : sent, []);
    this.#text = applySplices(this.#text, splices);
    this.#changed += plan.changed;
  }
}

/** Throws a Problem 422 unless the text is one document that is a mapping. */
function parseMapping(text: string): { readonly map: YAMLMap; readonly values: Values } {
  const { document, error } = parseYaml(text, { merge: true });
  if (error !== undefined) {
    const { code, line, column } = error;
    throw new Problem(422, `The file is not valid YAML: ${code} at line ${line}, column ${column}`);
  }
  const { contents } = document;
  if (contents === null) return { map: new YAMLMap(), values: {} };
  if (!isMap(contents)) throw new Problem(422, 'The file is not a YAML mapping at line 1, column 1');
  return { map: contents, values: yamlData(document) as Values };
}
