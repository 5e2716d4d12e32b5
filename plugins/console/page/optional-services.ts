// The services that may be started along with another one, each with its options.
import type { Api } from './api.ts';
import { element } from './element.ts';
import { OptionFields } from './option-fields.ts';
import type { OptionalService, Options } from './wire.ts';

interface Offer {
  readonly key: string;
  readonly choice: HTMLInputElement;
  readonly options: OptionFields;
}

export class OptionalServices {
  readonly element = element('div', {});
  readonly #api: Api;
  #core: string | undefined;
  #offers: readonly Offer[] = [];

  constructor(api: Api) {
    this.#api = api;
  }

  /** Shows the optional services of the service `core`; none when the host cannot list them. */
  async follow(core: string): Promise<void> {
    this.#core = core;
    this.#offers = [];
    this.element.replaceChildren();
    const query = { core_service: core };
    const answer = await this.#api
      .find<{ optional_services: readonly OptionalService[] }>('process/optional-services', query)
      .catch(() => undefined);
    if (answer === undefined || this.#core !== core) return;
    this.#offers = answer.optional_services.map(offerOf);
    if (this.#offers.length === 0) return;
    const rows = answer.optional_services.map(({ name }, index) => {
      const offer = this.#offers[index];
      return element('div', {}, ...(offer === undefined ? [] : [choiceOf(name, offer), offer.options.element]));
    });
    this.element.append(
      element('details', { class: 'options' }, element('summary', {}, 'Start along with it'), ...rows),
    );
  }

  /** The chosen services and their options, as members of the request that starts the service. */
  chosen(): { readonly optional_services: readonly string[]; readonly optional_service_options: Options } {
    const chosen = this.#offers.filter(({ choice }) => choice.checked);
    return {
      optional_services: chosen.map(({ key }) => key),
      optional_service_options: Object.fromEntries(chosen.map(({ key, options }) => [key, options.changed()])),
    };
  }
}

function offerOf({ key, name, service_options: options, service_option_descriptions: help }: OptionalService): Offer {
  const fields = new OptionFields(`Options of ${name}`, options, help);
  fields.element.hidden = true;
  const choice = element('input', {
    type: 'checkbox',
    change: () => {
      fields.element.hidden = !choice.checked || Object.keys(options).length === 0;
    },
  });
  return { key, choice, options: fields };
}

function choiceOf(name: string, { choice }: Offer): HTMLElement {
  return element('label', { class: 'check' }, choice, name);
}
