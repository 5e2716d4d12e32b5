// The list of what needs attention: invalid values of the configuration, plugins that failed, and services that do not
// run as they should.
import { namedReason } from '#kit/named-reason';
import type { Api } from './api.ts';
import { element } from './element.ts';
import { addressOf } from './router.ts';
import type { Service, Services } from './services.ts';
import { toneOf } from './status-mark.ts';
import type { PluginEntry } from './wire.ts';

const ASK_MS = 10_000;
/** Separates the sentences in the details of `/health`. */
const BETWEEN = '; ';

interface Matter {
  readonly sentence: string;
  readonly address: string;
}

export class Attention {
  readonly element = element('section', { class: 'attention', 'aria-label': 'Needs attention', hidden: true });
  readonly #list = element('ul');
  readonly #api: Api;
  readonly #services: Services;
  /** The details of `/health`, in sentences. */
  #health = '';
  #ofPlugins: readonly Matter[] = [];
  #shown = '';
  #forget: (() => void) | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isOpen = false;

  constructor(api: Api, services: Services) {
    this.#api = api;
    this.#services = services;
    this.element.append(element('h2', {}, 'Needs attention'), this.#list);
  }

  open(): void {
    this.#isOpen = true;
    this.#forget = this.#services.changed.add(() => this.#draw());
    void this.#ask();
  }

  close(): void {
    this.#isOpen = false;
    clearTimeout(this.#timer);
    this.#forget?.();
  }

  async #ask(): Promise<void> {
    const [health, listed] = await Promise.all([
      this.#api.find<{ status: string; details?: string }>('health').catch(() => undefined),
      this.#api.find<{ plugins: readonly PluginEntry[] }>('host/plugins').catch(() => undefined),
    ]);
    if (!this.#isOpen) return;
    this.#health = health?.details ?? '';
    this.#ofPlugins = (listed?.plugins ?? [])
      .filter(({ state }) => state === 'failed')
      .map(({ name, reason }) => ({
        sentence: `The plugin ${name} has failed: ${reason ?? 'its log says why'}`,
        address: addressOf('plugins'),
      }));
    this.#draw();
    this.#timer = setTimeout(() => void this.#ask(), ASK_MS);
  }

  #draw(): void {
    const services = this.#services.list;
    const health = withoutServices(this.#health, services);
    const ofHost = health === '' ? [] : [{ sentence: health, address: addressOf('log') }];
    const matters = [...ofHost, ...this.#ofPlugins, ...services.flatMap(matterOf)];
    const text = JSON.stringify(matters);
    // Rows are not replaced while nothing has changed, so that they keep the focus.
    if (text === this.#shown) return;
    this.#shown = text;
    this.element.hidden = matters.length === 0;
    this.#list.replaceChildren(
      ...matters.map(({ sentence, address }) => element('li', {}, element('a', { href: address }, sentence))),
    );
  }
}

/** The details of `/health` without the sentences about services, which are listed with the services themselves. */
function withoutServices(health: string, services: readonly Service[]): string {
  const told = services.flatMap(service =>
    matterOf(service).length === 0 || service.reason === null ? [] : namedReason(service.name, service.reason),
  );
  const rest = told.reduce((text, sentence) => text.replace(sentence, ''), health);
  return rest.split(BETWEEN).filter(Boolean).join(BETWEEN);
}

function matterOf(service: Service): readonly Matter[] {
  const { name, configProblem, reason, health, status } = service;
  const address = addressOf('service', name);
  if (configProblem !== null) return [{ sentence: configProblem, address }];
  const isBad = toneOf(service) === 'bad';
  // A service that a user has stopped has no reason.
  if (!isBad || reason === null) return [];
  const state = `${name} is ${status === 'running' ? health : status}`;
  return [{ sentence: reason.startsWith(`${name} `) ? reason : `${state}: ${reason}`, address }];
}
