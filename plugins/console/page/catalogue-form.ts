// Starts one of the services that the host knows how to install and run.
import type { Api } from './api.ts';
import { element, field, setText } from './element.ts';
import { tell } from './notices.ts';
import { OptionFields } from './option-fields.ts';
import { OptionalServices } from './optional-services.ts';
import type { CoreService } from './wire.ts';

interface StartAnswer {
  readonly errors: readonly { readonly service: string; readonly error: string }[];
}

export class CatalogueForm {
  readonly element: HTMLElement;
  readonly #api: Api;
  readonly #services: readonly CoreService[];
  readonly #select: HTMLSelectElement;
  readonly #description = element('p', { class: 'description' });
  readonly #provider = element('select');
  readonly #key = element('input', { type: 'password', autocomplete: 'off' });
  readonly #providerFields = element(
    'div',
    {},
    field('Provider', this.#provider),
    field('Key of the provider', this.#key),
  );
  readonly #instance = element('input', { autocomplete: 'off', placeholder: 'Default' });
  readonly #instanceField = field('Name of the instance', this.#instance);
  readonly #optionsPlace = element('div', {});
  readonly #optional: OptionalServices;
  /** The fields of options, by the keys of the service and of the services that it needs. */
  #options: ReadonlyMap<string, OptionFields> = new Map();
  readonly #submit = element('button', { type: 'submit' }, 'Start it');
  readonly #fault = element('p', { class: 'fault', role: 'alert' });

  constructor(api: Api, services: readonly CoreService[]) {
    this.#api = api;
    this.#services = services;
    this.#optional = new OptionalServices(api);
    this.#select = element(
      'select',
      { change: () => this.#describe() },
      ...services.map(({ name, key }) => element('option', { value: key }, name)),
    );
    this.element = element(
      'form',
      {
        class: 'form',
        submit: event => {
          event.preventDefault();
          void this.#start();
        },
      },
      field('Service', this.#select),
      this.#description,
      this.#providerFields,
      this.#instanceField,
      this.#optionsPlace,
      this.#optional.element,
      this.#submit,
      this.#fault,
    );
    this.#describe();
  }

  #chosen(): CoreService | undefined {
    return this.#services.find(({ key }) => key === this.#select.value);
  }

  #describe(): void {
    const chosen = this.#chosen();
    if (chosen === undefined) return;
    const providers = chosen.debrid_providers;
    setText(this.#description, chosen.description);
    this.#providerFields.hidden = providers.length === 0;
    this.#provider.replaceChildren(...providers.map(name => element('option', {}, name)));
    this.#instanceField.hidden = !chosen.supports_instances;
    this.#instance.value = '';
    this.#options = new Map(
      Object.entries(chosen.service_options).map(([key, options]) => {
        const title = key === chosen.key ? 'Options' : `Options of ${key}`;
        return [key, new OptionFields(title, options, chosen.service_option_descriptions[key] ?? {})];
      }),
    );
    this.#optionsPlace.replaceChildren(...[...this.#options.values()].map(fields => fields.element));
    void this.#optional.follow(chosen.key);
  }

  async #start(): Promise<void> {
    const chosen = this.#chosen();
    if (chosen === undefined) return;
    setText(this.#fault, '');
    this.#submit.disabled = true;
    const provider = { debrid_service: this.#provider.value, debrid_key: this.#key.value };
    const instance = this.#instance.value.trim();
    const wanted = {
      name: chosen.key,
      ...(chosen.debrid_providers.length > 0 ? provider : {}),
      ...(instance === '' ? {} : { instance_name: instance }),
      service_options: Object.fromEntries([...this.#options].map(([key, fields]) => [key, fields.changed()])),
    };
    const request = { core_services: [wanted], ...this.#optional.chosen() };
    try {
      const { errors } = await this.#api.post<StartAnswer>('process/start-core-service', request);
      if (errors.length === 0) tell(`${chosen.name} is started`);
      setText(this.#fault, errors.map(({ service, error }) => `${service}: ${error}`).join('; '));
    } catch (error) {
      setText(this.#fault, (error as Error).message);
    }
    this.#submit.disabled = false;
  }
}
