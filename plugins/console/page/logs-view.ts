// Shows a log that is chosen from a list. The log of the host holds the output of all services.
import type { Api } from './api.ts';
import { element, field } from './element.ts';
import { LogView } from './log-view.ts';
import { addressOf } from './router.ts';
import type { Services } from './services.ts';
import type { View } from './view.ts';

export class LogsView implements View {
  readonly title = 'Logs';
  readonly element: HTMLElement;
  readonly #services: Services;
  readonly #select = element('select');
  readonly #log: LogView;
  readonly #name: string;
  #forget: (() => void) | undefined;

  constructor(api: Api, services: Services, name: string) {
    this.#services = services;
    this.#name = name;
    this.#log = new LogView(api, name);
    this.#select.addEventListener('change', () => {
      location.hash = addressOf('log', this.#select.value);
    });
    this.element = element(
      'div',
      {},
      element('div', { class: 'bar' }, field('Log of', this.#select)),
      this.#log.element,
    );
  }

  open(): void {
    this.#forget = this.#services.changed.add(() => this.#fill());
    this.#fill();
    this.#log.open();
  }

  close(): void {
    this.#forget?.();
    this.#log.close();
  }

  #fill(): void {
    const names = this.#services.list
      .filter(({ enabled, name }) => enabled || name === this.#name)
      .map(({ name }) => name);
    const shown = [...this.#select.options].map(({ value }) => value);
    if (names.length === shown.length && names.every((name, index) => name === shown[index])) return;
    this.#select.replaceChildren(
      ...names.map(name => element('option', { value: name, selected: name === this.#name }, name)),
    );
  }
}
