// Adds a program of the user's own to the configuration, and starts it.
import type { Api } from './api.ts';
import { element, field, setText } from './element.ts';
import { tell } from './notices.ts';
import { addressOf } from './router.ts';

export class ProgramForm {
  readonly element: HTMLElement;
  readonly #api: Api;
  readonly #name = element('input', { required: true, autocomplete: 'off' });
  readonly #command = element('input', { required: true, autocomplete: 'off', spellcheck: 'false' });
  readonly #submit = element('button', { type: 'submit' }, 'Add and start it');
  readonly #fault = element('p', { class: 'fault', role: 'alert' });

  constructor(api: Api) {
    this.#api = api;
    this.element = element(
      'form',
      {
        class: 'form',
        submit: event => {
          event.preventDefault();
          void this.#add();
        },
      },
      field('Name', this.#name),
      field('Command, as in a shell', this.#command),
      this.#submit,
      this.#fault,
    );
  }

  async #add(): Promise<void> {
    const name = this.#name.value.trim();
    setText(this.#fault, '');
    this.#submit.disabled = true;
    try {
      const block = { process_name: name, command: ['sh', '-c', this.#command.value], enabled: true };
      const present = await this.#api.get<Readonly<Record<string, unknown>>>('config');
      await this.#api.post('config', { updates: { [keyFor(name, present)]: block } });
      const { status } = await this.#api.post<{ status: string }>('process/start-service', { process_name: name });
      tell(`${name}: ${status}`);
      location.hash = addressOf('service', name);
    } catch (error) {
      setText(this.#fault, (error as Error).message);
    }
    this.#submit.disabled = false;
  }
}

/**
 * The key of the program's block, made of letters, digits and underscores. Only a block with the same name may have it
 * already, such as that of a program that was added and did not start.
 */
function keyFor(name: string, present: Readonly<Record<string, unknown>>): string {
  const plain = name.toLowerCase().replaceAll(/[^a-z0-9]+/g, '_');
  const wanted = plain.replace(/^_/, '').replace(/_$/, '') || 'program';
  const isTaken = (key: string): boolean =>
    key in present && (present[key] as { readonly process_name?: unknown } | null)?.process_name !== name;
  let key = wanted;
  for (let number = 2; isTaken(key); number += 1) key = `${wanted}_${number}`;
  return key;
}
