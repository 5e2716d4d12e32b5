// The form to log in.
import { type Api, ApiError } from './api.ts';
import { element, field, setText } from './element.ts';
import type { View } from './view.ts';

export class LoginView implements View {
  readonly title = 'Log in';
  readonly element: HTMLElement;
  readonly #api: Api;
  readonly #onLoggedIn: () => void;
  readonly #username = element('input', { name: 'username', autocomplete: 'username', required: true });
  readonly #password = element('input', {
    name: 'password',
    type: 'password',
    autocomplete: 'current-password',
    required: true,
  });
  readonly #submit = element('button', { type: 'submit', class: 'main' }, 'Log in');
  readonly #fault = element('p', { class: 'fault', role: 'alert' });

  constructor(api: Api, onLoggedIn: () => void) {
    this.#api = api;
    this.#onLoggedIn = onLoggedIn;
    this.element = element(
      'form',
      { class: 'form', submit: event => void this.#logIn(event) },
      field('User name', this.#username),
      field('Password', this.#password),
      this.#submit,
      this.#fault,
    );
  }

  open(): void {
    this.#username.focus();
  }

  close(): void {
    this.#password.value = '';
  }

  async #logIn(event: Event): Promise<void> {
    event.preventDefault();
    this.#submit.disabled = true;
    setText(this.#fault, '');
    try {
      await this.#api.logIn(this.#username.value, this.#password.value);
      this.#onLoggedIn();
    } catch (error) {
      setText(this.#fault, error instanceof ApiError ? error.message : String(error));
    }
    this.#submit.disabled = false;
  }
}
