// The buttons that start, stop and restart a service. A notice says the outcome.
import { type Api, ApiError } from './api.ts';
import { element } from './element.ts';
import { tell } from './notices.ts';
import type { Service } from './services.ts';

type Action = 'start' | 'stop' | 'restart';

const ACTIONS: readonly { readonly action: Action; readonly label: string }[] = [
  { action: 'start', label: 'Start' },
  { action: 'stop', label: 'Stop' },
  { action: 'restart', label: 'Restart' },
];
const UP: readonly string[] = ['running', 'starting'];

/** The three buttons of a service. Those that make no sense at present are disabled. */
export class ActionButtons {
  readonly element: HTMLElement;
  readonly #buttons: ReadonlyMap<Action, HTMLButtonElement>;
  readonly #api: Api;
  #service: Service | undefined;
  /** The action that waits for its answer, by the name of the service. */
  static readonly #running = new Map<string, Action>();

  constructor(api: Api) {
    this.#api = api;
    this.#buttons = new Map(
      ACTIONS.map(({ action, label }) => [
        action,
        element('button', { type: 'button', class: action, click: () => void this.#act(action) }, label),
      ]),
    );
    this.element = element('div', { class: 'actions' }, ...this.#buttons.values());
  }

  show(service: Service): void {
    this.#service = service;
    this.element.hidden = !service.hasProgram;
    const isUp = UP.includes(service.status);
    const running = ActionButtons.#running.get(service.name);
    for (const { action, label } of ACTIONS) {
      const button = this.#buttons.get(action);
      if (button === undefined) continue;
      button.setAttribute('aria-label', `${label} ${service.name}`);
      const isPossible = action === 'start' ? !isUp : isUp;
      // A start that waits can be cancelled by a stop.
      const isWaiting = running !== undefined && !(running === 'start' && action === 'stop');
      button.disabled = !isPossible || isWaiting || service.status === 'stopping' || service.heldBecause !== null;
      button.setAttribute('aria-busy', String(running === action));
    }
  }

  async #act(action: Action): Promise<void> {
    const service = this.#service;
    if (service === undefined) return;
    const { name } = service;
    ActionButtons.#running.set(name, action);
    this.show(service);
    try {
      const { status } = await this.#api.post<{ status: string }>(`process/${action}-service`, { process_name: name });
      tell(`${name}: ${status}`);
    } catch (error) {
      tell(`${name}: ${error instanceof ApiError ? error.message : String(error)}`, 'failed');
    }
    if (ActionButtons.#running.get(name) === action) ActionButtons.#running.delete(name);
    if (this.#service !== undefined) this.show(this.#service);
  }
}
