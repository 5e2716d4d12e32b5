// Shows a log as it grows, with a search, levels, and following its end.
import type { Api } from './api.ts';
import { element, field, setText } from './element.ts';
import { LogFeed } from './log-feed.ts';
import { isShown, type Level, levelOf, markedText } from './log-line.ts';
import { type Row, VirtualList } from './virtual-list.ts';

/** Long enough for a word to be typed. */
const SEARCH_PAUSE_MS = 150;
/** Nearer to the end than this counts as at the end. */
const END_PX = 30;

interface ShownLine {
  readonly text: string;
  readonly search: string;
}

export class LogView {
  readonly element: HTMLElement;
  readonly #feed: LogFeed;
  readonly #list: VirtualList<ShownLine>;
  readonly #rows = element('ol', { class: 'lines' });
  readonly #scroller: HTMLElement;
  readonly #count = element('p', { class: 'muted' });
  /** The number of lines that a search found, which is read out once although the log goes on growing. */
  readonly #found = element('p', { class: 'spoken', role: 'status' });
  readonly #more = element(
    'button',
    { type: 'button', hidden: true, click: () => this.#feed.readMore() },
    'Older lines, too',
  );
  readonly #fault = element('p', { class: 'fault', role: 'alert', hidden: true });
  readonly #search = element('input', { type: 'search', autocomplete: 'off', spellcheck: 'false' });
  readonly #level = element(
    'select',
    {},
    element('option', { value: 'all' }, 'All lines'),
    element('option', { value: 'warnings' }, 'Warnings and errors'),
    element('option', { value: 'errors' }, 'Errors'),
  );
  readonly #follow = element('input', { type: 'checkbox', checked: true });
  #shown: ShownLine[] = [];
  /** The level of the line that was added last; a line that continues it, as of a stack trace, has none of its own. */
  #lastLevel: string | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(api: Api, processName: string) {
    this.#feed = new LogFeed(api, processName);
    this.#scroller = element(
      'div',
      {
        class: 'log',
        tabindex: 0,
        role: 'region',
        'aria-label': `Log of ${processName}`,
        scroll: () => this.#scrolled(),
      },
      this.#rows,
    );
    this.#search.addEventListener('input', () => this.#searchSoon());
    this.#level.addEventListener('change', () => this.#filter());
    this.#follow.addEventListener('change', () => this.#toEnd());
    this.element = element(
      'section',
      { class: 'log-view', 'aria-label': 'Log' },
      element(
        'div',
        { class: 'bar' },
        field('Search the log', this.#search),
        field('Show', this.#level),
        element('label', { class: 'check' }, this.#follow, 'Follow the end'),
        this.#count,
        this.#found,
        this.#more,
      ),
      this.#fault,
      this.#scroller,
    );
    this.#list = new VirtualList<ShownLine>({
      element: this.#rows,
      scroller: this.#scroller,
      keyOf: (_, index) => index,
      createRow: createLineRow,
    });
    this.#feed.changed.add(added => this.#take(added));
    this.#feed.failed.add(sentence => {
      this.#fault.hidden = sentence === null;
      setText(this.#fault, sentence ?? '');
    });
  }

  open(): void {
    this.#feed.open();
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#feed.close();
    this.#list.close();
  }

  #searchSoon(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#filter(), SEARCH_PAUSE_MS);
  }

  #filter(): void {
    this.#addAll();
    this.#draw();
    setText(this.#found, `${this.#shown.length.toLocaleString()} found`);
  }

  #take(added: number | 'all'): void {
    if (added === 'all') this.#addAll();
    else this.#add(this.#feed.lines.slice(-added));
    this.#draw();
  }

  #addAll(): void {
    this.#shown = [];
    this.#lastLevel = undefined;
    this.#add(this.#feed.lines);
  }

  #add(lines: readonly string[]): void {
    const search = this.#search.value.toLowerCase();
    const wanted = this.#level.value as Level;
    for (const text of lines) {
      if (wanted !== 'all') this.#lastLevel = levelOf(text) ?? this.#lastLevel;
      const isFound = search === '' || text.toLowerCase().includes(search);
      if (isFound && isShown(this.#lastLevel, wanted)) this.#shown.push({ text, search });
    }
  }

  #draw(): void {
    this.#list.show(this.#shown);
    const all = this.#feed.lines.length;
    const left = this.#feed.isCut ? ', older ones left out' : '';
    this.#more.hidden = !this.#feed.hasMore;
    const some = this.#shown.length === all ? '' : `${this.#shown.length.toLocaleString()} of `;
    setText(this.#count, `${some}${all.toLocaleString()} ${all === 1 ? 'line' : 'lines'}${left}`);
    this.#toEnd();
  }

  #toEnd(): void {
    if (this.#follow.checked) this.#scroller.scrollTop = this.#scroller.scrollHeight;
  }

  /** Scrolling up ends the following of the end, and scrolling to the end begins it again. */
  #scrolled(): void {
    const { scrollTop, clientHeight, scrollHeight } = this.#scroller;
    this.#follow.checked = scrollTop + clientHeight >= scrollHeight - END_PX;
  }
}

function createLineRow(): Row<ShownLine> {
  const line = element('li', { class: 'line' });
  let shown: ShownLine | undefined;
  return {
    element: line,
    show(item) {
      if (item === shown) return;
      shown = item;
      line.dataset.level = levelOf(item.text)?.toLowerCase() ?? '';
      line.replaceChildren(...markedText(item.text, item.search));
    },
  };
}
