// Shows one service: its state, its usage, its buttons and its log.
import { ActionButtons } from './actions.ts';
import type { Api } from './api.ts';
import { element, fit, setText } from './element.ts';
import { ageText, bytesText, percentText } from './format.ts';
import { LogView } from './log-view.ts';
import type { Service, Services } from './services.ts';
import { StatusMark } from './status-mark.ts';
import type { View } from './view.ts';

export class ServiceView implements View {
  readonly title: string;
  readonly element: HTMLElement;
  readonly #name: string;
  readonly #services: Services;
  readonly #mark = new StatusMark();
  readonly #buttons: ActionButtons;
  readonly #note = element('p', { class: 'muted' });
  readonly #facts = element('dl', { class: 'facts' });
  readonly #log: LogView;
  #forget: (() => void) | undefined;

  constructor(api: Api, services: Services, name: string) {
    this.title = name;
    this.#name = name;
    this.#services = services;
    this.#buttons = new ActionButtons(api);
    this.#log = new LogView(api, name);
    this.element = element(
      'div',
      { class: 'service-view' },
      element('div', { class: 'bar' }, this.#mark.element, this.#buttons.element),
      this.#note,
      this.#facts,
      this.#log.element,
    );
  }

  open(): void {
    this.#forget = this.#services.changed.add(() => this.#draw());
    this.#draw();
    this.#log.open();
  }

  close(): void {
    this.#forget?.();
    this.#log.close();
  }

  #draw(): void {
    const service = this.#services.get(this.#name);
    if (service === undefined) {
      const isKnown = this.#services.list.length > 0;
      this.#note.hidden = false;
      setText(this.#note, isKnown ? 'There is no service of this name.' : 'Loading');
      return;
    }
    this.#note.hidden = true;
    this.#mark.show(service);
    this.#buttons.show(service);
    const facts = factsOf(service);
    const rows = fit(this.#facts, facts.length, () => element('div', {}, element('dt'), element('dd')));
    for (const [index, row] of rows.entries())
      for (const [place, part] of [...row.children].entries()) setText(part, facts[index]?.[place] ?? '');
  }
}

function factsOf(service: Service): readonly (readonly [term: string, text: string])[] {
  const { health, reason, heldBecause, configProblem, cpuPercent, rssBytes, readyAt, lastExit, lastExitAt } = service;
  const facts: readonly (readonly [string, string | null])[] = [
    ['Health', health],
    ['Reason', reason],
    ['Held', heldBecause],
    ['Configuration', configProblem],
    ['CPU', cpuPercent === null ? null : percentText(cpuPercent)],
    ['Memory', rssBytes === null ? null : bytesText(rssBytes)],
    ['Process', service.pid === null ? null : String(service.pid)],
    ['Up for', readyAt === null ? null : ageText(readyAt)],
    ['Restarts', service.restarts === 0 ? null : String(service.restarts)],
    ['Last exit', lastExit === null ? null : `${lastExit}${lastExitAt === null ? '' : `, ${ageText(lastExitAt)} ago`}`],
    ['Version', service.version],
    ['Enabled', service.enabled ? 'yes' : 'no'],
  ];
  return facts.flatMap(([term, text]) => (text === null ? [] : [[term, text] as const]));
}
