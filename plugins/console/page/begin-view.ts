// What to do next on an empty host: decide who may use it, and add a service.
import { AccountForm } from './account-form.ts';
import type { Api } from './api.ts';
import { CatalogueForm } from './catalogue-form.ts';
import { element } from './element.ts';
import { tell } from './notices.ts';
import { ProgramForm } from './program-form.ts';
import { addressOf } from './router.ts';
import type { View } from './view.ts';
import type { AuthStatus, CoreService } from './wire.ts';

export class BeginView implements View {
  readonly title = 'What to do next';
  readonly element = element('div', { class: 'begin' });
  readonly #api: Api;
  readonly #onChanged: () => void;
  #isOpen = false;

  /**
   * `onChanged` is called when an account was created or declined, or the user does not want to see this view again.
   */
  constructor(api: Api, onChanged: () => void) {
    this.#api = api;
    this.#onChanged = onChanged;
  }

  open(): void {
    this.#isOpen = true;
    void this.#draw();
  }

  close(): void {
    this.#isOpen = false;
  }

  async #draw(): Promise<void> {
    const steps: HTMLElement[] = [];
    try {
      const [auth, catalogue] = await Promise.all([
        this.#api.find<AuthStatus>('auth/status'),
        this.#api.find<{ core_services: readonly CoreService[] }>('process/core-services'),
      ]);
      if (!this.#isOpen) return;
      if (auth !== undefined) steps.push(this.#accountStep(auth));
      if (catalogue !== undefined) steps.push(this.#catalogueStep(catalogue.core_services));
    } catch (error) {
      steps.push(element('p', { class: 'fault', role: 'alert' }, (error as Error).message));
    }
    steps.push(
      step('Run a program of your own', new ProgramForm(this.#api).element),
      step(
        'Go on',
        element('p', {}, 'Everything here can be done later, too, and undone.'),
        element('button', { type: 'button', click: () => void this.#finish() }, 'Do not show this again'),
      ),
    );
    this.element.replaceChildren(...steps);
  }

  #accountStep({ enabled, has_users: hasUsers, setup_skipped: isSkipped }: AuthStatus): HTMLElement {
    const title = 'Decide who may use this';
    if (enabled) return step(title, element('p', {}, 'Done: whoever comes here must log in.'));
    if (hasUsers) return step(title, element('p', {}, 'There are accounts, and nobody must log in at present.'));
    return step(title, new AccountForm(this.#api, isSkipped, this.#onChanged).element);
  }

  #catalogueStep(services: readonly CoreService[]): HTMLElement {
    return step('Start a service that is known here', new CatalogueForm(this.#api, services).element);
  }

  async #finish(): Promise<void> {
    try {
      await this.#api.post('config/onboarding-completed');
      this.#onChanged();
      location.hash = addressOf('services');
    } catch (error) {
      tell((error as Error).message, 'failed');
    }
  }
}

function step(title: string, ...content: HTMLElement[]): HTMLElement {
  return element('section', { class: 'step', 'aria-label': title }, element('h2', {}, title), ...content);
}
