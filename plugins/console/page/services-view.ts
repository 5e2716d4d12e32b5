// Shows every service in one list, with its status, its usage and its buttons.
import { ActionButtons } from './actions.ts';
import type { Api } from './api.ts';
import { Attention } from './attention.ts';
import { element, field, setText } from './element.ts';
import { bytesText, percentText } from './format.ts';
import { addressOf } from './router.ts';
import type { Service, Services } from './services.ts';
import { StatusMark } from './status-mark.ts';
import type { View } from './view.ts';
import { type Row, VirtualList } from './virtual-list.ts';

export class ServicesView implements View {
  readonly title = 'Services';
  readonly element: HTMLElement;
  readonly #services: Services;
  readonly #attention: Attention;
  readonly #rows = element('ul', { class: 'services', 'aria-label': 'Services' });
  readonly #search = element('input', { type: 'search', autocomplete: 'off', spellcheck: 'false' });
  readonly #withDisabled = element('input', { type: 'checkbox' });
  readonly #count = element('p', { class: 'muted', role: 'status' });
  readonly #empty = element(
    'p',
    { class: 'empty', hidden: true },
    'No service is enabled yet. ',
    element('a', { href: addressOf('begin') }, 'Add the first one'),
    '.',
  );
  readonly #list: VirtualList<Service>;
  #forget: (() => void) | undefined;

  constructor(api: Api, services: Services) {
    this.#services = services;
    this.#attention = new Attention(api, services);
    for (const control of [this.#search, this.#withDisabled]) control.addEventListener('input', () => this.#draw());
    this.element = element(
      'div',
      {},
      this.#attention.element,
      element(
        'div',
        { class: 'bar' },
        field('Search services', this.#search),
        element('label', { class: 'check' }, this.#withDisabled, 'Disabled ones, too'),
        this.#count,
      ),
      this.#empty,
      this.#rows,
    );
    this.#list = new VirtualList<Service>({
      element: this.#rows,
      scroller: window,
      keyOf: ({ name }) => name,
      createRow: () => createServiceRow(api),
    });
  }

  open(): void {
    this.#forget = this.#services.changed.add(() => this.#draw());
    this.#attention.open();
    this.#draw();
  }

  close(): void {
    this.#forget?.();
    this.#attention.close();
    this.#list.close();
  }

  #draw(): void {
    const all = this.#services.list;
    const search = this.#search.value.trim().toLowerCase();
    const isShown = (service: Service): boolean =>
      this.#withDisabled.checked || service.enabled || service.status !== 'stopped' || service.configProblem !== null;
    const found = all.filter(
      service => isShown(service) && `${service.name}\n${service.label}`.toLowerCase().includes(search),
    );
    this.#list.show(found);
    const running = found.filter(({ status }) => status === 'running').length;
    setText(this.#count, `${found.length} shown, ${running} running`);
    this.#empty.hidden = search !== '' || all.length === 0 || found.some(({ hasProgram }) => hasProgram);
  }
}

function createServiceRow(api: Api): Row<Service> {
  const name = element('a', { class: 'name' });
  const mark = new StatusMark();
  const reason = element('span', { class: 'reason muted' });
  const cpu = element('span', { class: 'number cpu' });
  const memory = element('span', { class: 'number memory' });
  const buttons = new ActionButtons(api);
  const log = element('a', { class: 'button' }, 'Log');
  const row = element('li', { class: 'service' }, name, mark.element, reason, cpu, memory, buttons.element, log);
  return {
    element: row,
    show(service) {
      setText(name, service.name);
      name.href = addressOf('service', service.name);
      mark.show(service);
      setText(reason, service.heldBecause ?? service.configProblem ?? service.reason ?? '');
      reason.title = reason.textContent ?? '';
      setText(cpu, service.cpuPercent === null ? '' : `CPU ${percentText(service.cpuPercent)}`);
      setText(memory, service.rssBytes === null ? '' : bytesText(service.rssBytes));
      buttons.show(service);
      log.href = addressOf('log', service.name);
      log.setAttribute('aria-label', `Log of ${service.name}`);
    },
  };
}
