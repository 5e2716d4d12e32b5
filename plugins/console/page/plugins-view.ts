// Shows all plugins: their states, why one is not ready, and the faults of each.
import type { Api } from './api.ts';
import { element, field, setText } from './element.ts';
import type { View } from './view.ts';
import type { PluginEntry } from './wire.ts';

const ASK_MS = 5_000;
const COLUMNS = ['Plugin', 'State', 'Faults', 'Loaded in', 'Routes and streams'];

export class PluginsView implements View {
  readonly title = 'Plugins';
  readonly element: HTMLElement;
  readonly #api: Api;
  readonly #search = element('input', { type: 'search', autocomplete: 'off', spellcheck: 'false' });
  readonly #onlyFaulty = element('input', { type: 'checkbox' });
  readonly #count = element('p', { class: 'muted', role: 'status' }, 'Loading');
  readonly #rows = element('tbody');
  #plugins: readonly PluginEntry[] = [];
  #shown = '';
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isOpen = false;

  constructor(api: Api) {
    this.#api = api;
    for (const control of [this.#search, this.#onlyFaulty]) control.addEventListener('input', () => this.#draw());
    this.element = element(
      'div',
      {},
      element(
        'div',
        { class: 'bar' },
        field('Search plugins', this.#search),
        element('label', { class: 'check' }, this.#onlyFaulty, 'Only those with faults'),
        this.#count,
      ),
      element(
        'div',
        { class: 'table', tabindex: 0, role: 'region', 'aria-label': 'Plugins' },
        element(
          'table',
          {},
          element('thead', {}, element('tr', {}, ...COLUMNS.map(name => element('th', { scope: 'col' }, name)))),
          this.#rows,
        ),
      ),
    );
  }

  open(): void {
    this.#isOpen = true;
    void this.#ask();
  }

  close(): void {
    this.#isOpen = false;
    clearTimeout(this.#timer);
  }

  async #ask(): Promise<void> {
    try {
      const { plugins } = await this.#api.get<{ plugins: readonly PluginEntry[] }>('host/plugins');
      this.#plugins = plugins.toSorted((a, b) => Number(isFaulty(b)) - Number(isFaulty(a)));
      this.#draw();
    } catch (error) {
      setText(this.#count, `The plugins cannot be shown: ${(error as Error).message}`);
    }
    if (this.#isOpen) this.#timer = setTimeout(() => void this.#ask(), ASK_MS);
  }

  #draw(): void {
    const search = this.#search.value.trim().toLowerCase();
    const found = this.#plugins.filter(
      plugin => plugin.name.includes(search) && (!this.#onlyFaulty.checked || isFaulty(plugin)),
    );
    const faulty = this.#plugins.filter(isFaulty).length;
    setText(this.#count, `${found.length} of ${this.#plugins.length} plugins, ${faulty} with faults`);
    const text = JSON.stringify(found);
    if (text === this.#shown) return;
    this.#shown = text;
    this.#rows.replaceChildren(...found.map(pluginRow));
  }
}

function isFaulty({ state, errors }: PluginEntry): boolean {
  return state === 'failed' || state === 'skipped' || Object.keys(errors).length > 0;
}

function pluginRow(plugin: PluginEntry): HTMLElement {
  const { name, version, state, reason, errors, loadMs, routes, streams } = plugin;
  const faults = Object.entries(errors).map(([place, count]) => `${count} in ${place}`);
  const tone = state === 'ready' ? (isFaulty(plugin) ? 'busy' : 'good') : state === 'disabled' ? 'off' : 'bad';
  return element(
    'tr',
    {},
    element('th', { scope: 'row' }, version === null ? name : `${name} ${version}`),
    element(
      'td',
      {},
      element('span', { class: 'mark', 'data-tone': tone }, state),
      ...(reason === null ? [] : [element('span', { class: 'reason' }, reason)]),
    ),
    element('td', {}, faults.join(', ')),
    element('td', {}, loadMs === null ? '' : `${loadMs} ms`),
    element('td', {}, offersOf([...routes, ...streams])),
  );
}

function offersOf(offers: readonly string[]): Node | string {
  if (offers.length === 0) return '';
  const items = offers.map(offer => element('li', {}, offer));
  return element('details', {}, element('summary', {}, String(offers.length)), element('ul', {}, ...items));
}
