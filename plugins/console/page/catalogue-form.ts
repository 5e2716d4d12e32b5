// Starts one of the services that the host knows how to install and run.
import type { Api } from './api.ts';
import { element, field, setText } from './element.ts';
import { tell } from './notices.ts';
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
  readonly #submit = element('button', { type: 'submit' }, 'Start it');
  readonly #fault = element('p', { class: 'fault', role: 'alert' });

  constructor(api: Api, services: readonly CoreService[]) {
    this.#api = api;
    this.#services = services;
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
      this.#submit,
      this.#fault,
    );
    this.#describe();
  }

  #chosen(): CoreService | undefined {
    return this.#services.find(({ key }) => key === this.#select.value);
  }

  #describe(): void {
    const { description = '', debrid_providers: providers = [] } = this.#chosen() ?? {};
    setText(this.#description, description);
    this.#providerFields.hidden = providers.length === 0;
    this.#provider.replaceChildren(...providers.map(name => element('option', {}, name)));
  }

  async #start(): Promise<void> {
    const chosen = this.#chosen();
    if (chosen === undefined) return;
    setText(this.#fault, '');
    this.#submit.disabled = true;
    const provider = { debrid_service: this.#provider.value, debrid_key: this.#key.value };
    const wanted = { name: chosen.key, ...(chosen.debrid_providers.length > 0 ? provider : {}) };
    try {
      const { errors } = await this.#api.post<StartAnswer>('process/start-core-service', { core_services: [wanted] });
      if (errors.length === 0) tell(`${chosen.name} is started`);
      setText(this.#fault, errors.map(({ service, error }) => `${service}: ${error}`).join('; '));
    } catch (error) {
      setText(this.#fault, (error as Error).message);
    }
    this.#submit.disabled = false;
  }
}
