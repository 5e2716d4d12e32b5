// The form for the first account. Once it exists, every user must log in; without it, anyone who reaches the host is in
// control.
import type { Api } from './api.ts';
import { element, field, setText } from './element.ts';
import { tell } from './notices.ts';

export class AccountForm {
  readonly element: HTMLElement;
  readonly #api: Api;
  readonly #onDone: () => void;
  readonly #username = element('input', { autocomplete: 'username', required: true });
  readonly #password = element('input', {
    type: 'password',
    autocomplete: 'new-password',
    required: true,
    minlength: 8,
  });
  readonly #fault = element('p', { class: 'fault', role: 'alert' });

  constructor(api: Api, isSkipped: boolean, onDone: () => void) {
    this.#api = api;
    this.#onDone = onDone;
    const without = element('button', { type: 'button', click: () => void this.#skip() }, 'Go on without an account');
    this.element = element(
      'form',
      {
        class: 'form',
        submit: event => {
          event.preventDefault();
          void this.#create();
        },
      },
      element(
        'p',
        {},
        isSkipped
          ? 'Nobody must log in: everybody who reaches this address is in control.'
          : 'Until there is an account, everybody who reaches this address is in control.',
      ),
      field('User name', this.#username),
      field('Password, 8 characters or more', this.#password),
      element(
        'div',
        { class: 'actions' },
        element('button', { type: 'submit', class: 'main' }, 'Create the account'),
        ...(isSkipped ? [] : [without]),
      ),
      this.#fault,
    );
  }

  #create(): Promise<void> {
    return this.#do(async () => {
      await this.#api.setUp(this.#username.value, this.#password.value);
      tell('The account is created, and you are logged in');
    });
  }

  #skip(): Promise<void> {
    return this.#do(async () => {
      await this.#api.post('auth/skip-setup');
      tell('Nobody must log in');
    });
  }

  async #do(work: () => Promise<void>): Promise<void> {
    setText(this.#fault, '');
    try {
      await work();
      this.#onDone();
    } catch (error) {
      setText(this.#fault, (error as Error).message);
    }
  }
}
