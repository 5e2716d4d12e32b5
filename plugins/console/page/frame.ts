// The frame around the views: the name, the links to the views, the state of the connection, and the notices.
import type { Api } from './api.ts';
import { element, setText } from './element.ts';
import type { LiveStream } from './live-stream.ts';
import { noticeRegion } from './notices.ts';
import { addressOf } from './router.ts';
import type { View } from './view.ts';

const TICK_MS = 1_000;
const TITLE = 'Stackwarden';

const WAYS: readonly { readonly view: string; readonly label: string }[] = [
  { view: 'services', label: 'Services' },
  { view: 'log', label: 'Logs' },
  { view: 'graph', label: 'Graph' },
  { view: 'metrics', label: 'Metrics' },
  { view: 'plugins', label: 'Plugins' },
  { view: 'begin', label: 'What to do next' },
];

export class Frame {
  readonly #stream: LiveStream;
  readonly #ways = new Map<string, HTMLAnchorElement>();
  readonly #heading = element('h1', { tabindex: -1 });
  readonly #place = element('div', { class: 'place' });
  readonly #connection = element('p', { class: 'connection', role: 'status' });
  readonly #lost: HTMLElement;
  /** Read out once, so the countdown is outside of this element. */
  readonly #lostText = element('p', { role: 'alert' });
  readonly #countdown = element('span');
  readonly #navigation: HTMLElement;
  readonly #logOut: HTMLButtonElement;
  readonly #documentation: HTMLAnchorElement;
  readonly #newer = element('div', { role: 'status' });
  #view: View | undefined;

  constructor(api: Api, stream: LiveStream, onRetry: () => void) {
    this.#stream = stream;
    this.#logOut = element('button', { type: 'button', hidden: true, click: () => api.logOut() }, 'Log out');
    for (const { view, label } of WAYS) this.#ways.set(view, element('a', { href: addressOf(view) }, label));
    this.#navigation = element('nav', { 'aria-label': 'Views' }, ...this.#ways.values());
    this.#lost = element(
      'div',
      { class: 'strip fault-strip', hidden: true },
      this.#lostText,
      this.#countdown,
      element('button', { type: 'button', click: onRetry }, 'Try now'),
    );
    this.#documentation = element('a', { href: api.addressOf('docs'), hidden: true }, 'API documentation');
    document.body.replaceChildren(
      element('a', { class: 'skip', href: '#content', click: event => this.#skip(event) }, 'To the content'),
      element('header', {}, element('p', { class: 'brand' }, TITLE), this.#navigation, this.#connection, this.#logOut),
      this.#lost,
      this.#newer,
      element('main', { id: 'content' }, this.#heading, this.#place),
      element('footer', {}, this.#documentation),
      noticeRegion(),
    );
    stream.changed.add(() => this.#tellConnection());
    setInterval(() => this.#tellConnection(), TICK_MS);
  }

  /** Puts a view in the place of the one before. The first view leaves the focus where it is. */
  show(view: View, name: string): void {
    const isFirst = this.#view === undefined;
    this.#view?.close();
    this.#view = view;
    for (const [other, way] of this.#ways) {
      if (other === name) way.setAttribute('aria-current', 'page');
      else way.removeAttribute('aria-current');
    }
    setText(this.#heading, view.title);
    document.title = `${view.title} · ${TITLE}`;
    this.#place.replaceChildren(view.element);
    if (!isFirst) {
      scrollTo(0, 0);
      this.#heading.focus({ preventScroll: true });
    }
    view.open();
  }

  /** Shows why there is no view. */
  fail(sentence: string): void {
    setText(this.#heading, TITLE);
    this.#place.replaceChildren(element('p', { class: 'fault', role: 'alert' }, sentence));
  }

  /** Shows only the links named in `ways`, and the button to log out only if `canLogOut` is true. */
  allow(ways: readonly string[], canLogOut: boolean): void {
    this.#navigation.hidden = ways.length === 0;
    this.#logOut.hidden = !canLogOut;
    for (const [name, way] of this.#ways) way.hidden = !ways.includes(name);
  }

  /** Shows or hides the link to the documentation of the API. */
  allowDocumentation(isThere: boolean): void {
    this.#documentation.hidden = !isThere;
  }

  /** Shows that the host has another version of this page. */
  offerReload(): void {
    const reload = element('button', { type: 'button', click: () => location.reload() }, 'Reload');
    const bar = element(
      'div',
      { class: 'strip' },
      element('p', {}, 'The host has another version of this page.'),
      reload,
    );
    this.#newer.replaceChildren(bar);
  }

  #tellConnection(): void {
    const { state } = this.#stream;
    const isLost = state.kind === 'lost';
    const words = { connecting: 'Connecting', open: 'Live', closed: '', lost: 'Not connected' };
    setText(this.#connection, words[state.kind]);
    this.#connection.dataset.kind = state.kind;
    document.body.classList.toggle('stale', isLost);
    this.#lost.hidden = !isLost;
    setText(this.#lostText, isLost ? 'The connection to the host is lost. What you see may be old.' : '');
    if (!isLost) return;
    const leftS = Math.max(0, Math.ceil((state.retryAtMs - Date.now()) / 1_000));
    setText(this.#countdown, `Next try in ${leftS} s.`);
  }

  /** Moves the focus to the content. The link cannot do this itself, because the part after `#` names the view. */
  #skip(event: Event): void {
    event.preventDefault();
    this.#heading.focus();
  }
}
