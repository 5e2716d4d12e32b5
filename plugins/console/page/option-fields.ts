// A field for each option of one service. Only changed options are sent.
import { element, field } from './element.ts';
import type { Options } from './wire.ts';

const SECRET = /password|token|_key$/;

interface OptionField {
  readonly element: HTMLElement;
  /** The new value; undefined when it was not changed. */
  changed(): unknown;
}

export class OptionFields {
  readonly element: HTMLElement;
  readonly #fields: readonly (readonly [string, OptionField])[];

  /** A secret has a blank value here, because the host does not show it. */
  constructor(title: string, options: Options, descriptions: Readonly<Record<string, string>>) {
    this.#fields = Object.entries(options).map(
      ([name, value]) => [name, fieldOf(name, value, descriptions[name])] as const,
    );
    this.element = element(
      'details',
      { class: 'options' },
      element('summary', {}, title),
      ...this.#fields.map(([, { element }]) => element),
    );
    this.element.hidden = this.#fields.length === 0;
  }

  changed(): Options {
    const all = this.#fields.map(([name, made]) => [name, made.changed()] as const);
    return Object.fromEntries(all.filter(([, value]) => value !== undefined));
  }
}

function fieldOf(name: string, value: unknown, description: string | undefined): OptionField {
  const label = labelOf(name);
  const help = description === undefined ? [] : [element('span', { class: 'muted' }, description)];
  if (typeof value === 'boolean') {
    const input = element('input', { type: 'checkbox', checked: value });
    return {
      element: element('div', {}, element('label', { class: 'check' }, input, label), ...help),
      changed: () => (input.checked === value ? undefined : input.checked),
    };
  }
  const text = Array.isArray(value) ? value.join(', ') : String(value ?? '');
  const type = typeof value === 'number' ? 'number' : SECRET.test(name) ? 'password' : 'text';
  const input = element('input', { type, value: text, autocomplete: 'off', spellcheck: 'false' });
  return {
    element: element('div', {}, field(label, input), ...help),
    changed() {
      const typed = input.value.trim();
      if (typed === text.trim() || (typeof value === 'number' && typed === '')) return undefined;
      if (Array.isArray(value))
        return typed
          .split(',')
          .map(part => part.trim())
          .filter(part => part !== '');
      return typeof value === 'number' ? Number(typed) : typed;
    },
  };
}

/** Turns `release_version` into `Release version`. */
function labelOf(name: string): string {
  const words = name.replaceAll('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}
