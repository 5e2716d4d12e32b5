// Whether the block of a service selects something other than the latest release: a version of its own, or sources.
import type { OptionFact } from './contract.ts';

type Values = Readonly<Record<string, unknown>>;
type Options = Readonly<Record<string, OptionFact>>;

const LATEST = 'latest';

export class Selection {
  readonly #versions: readonly (readonly [string, OptionFact])[];
  readonly #sources: readonly (readonly [string, OptionFact])[];

  constructor(options: Options) {
    const selecting = Object.entries(options);
    this.#versions = selecting.filter(([, { selects }]) => selects === 'version');
    this.#sources = selecting.filter(([, { selects }]) => selects === 'sources');
  }

  isSources(block: Values): boolean {
    return this.#sources.some(([name, { type }]) => {
      const value = block[name];
      return type === 'boolean' ? value === true : typeof value === 'string' && value.trim() !== '';
    });
  }

  /** Whether the block selects another release than the latest. */
  isOwn(block: Values): boolean {
    const set = this.#versions
      .map(([name, { selectsWith }]) => ({ selectsWith, version: versionIn(block[name]) }))
      .filter(({ version }) => version !== '');
    const first = set.find(({ selectsWith }) => selectsWith === undefined);
    if (first !== undefined) return first.version !== LATEST;
    if (this.isSources(block)) return true;
    return set.some(({ selectsWith = '', version }) => block[selectsWith] === true && version !== LATEST);
  }
}

function versionIn(value: unknown): string {
  return String(value ?? '')
    .trim()
    .toLowerCase();
}
