// A list of any length, of which the document holds only the visible rows and a few around them. All rows have the
// height of the first.

export interface Row<Item> {
  readonly element: HTMLLIElement;
  show(item: Item): void;
}

export interface VirtualListOptions<Item> {
  readonly element: HTMLUListElement | HTMLOListElement;
  /** The element around the list that scrolls, or the whole page. */
  readonly scroller: HTMLElement | Window;
  /** Identifies the row of an item: an item with the same key keeps its element. */
  keyOf(item: Item, index: number): string | number;
  createRow(): Row<Item>;
}

/** Rows that are kept beyond the visible ones, so that the focus and short scrolls find them. */
const MARGIN_ROWS = 6;

export class VirtualList<Item> {
  readonly #options: VirtualListOptions<Item>;
  readonly #rows = new Map<string | number, Row<Item>>();
  readonly #stop = new AbortController();
  #items: readonly Item[] = [];
  #rowHeight = 0;
  #frame = 0;

  constructor(options: VirtualListOptions<Item>) {
    this.#options = options;
    options.element.classList.add('virtual');
    const { signal } = this.#stop;
    options.scroller.addEventListener('scroll', () => this.#soon(), { signal, passive: true });
    window.addEventListener(
      'resize',
      () => {
        this.#rowHeight = 0;
        this.#soon();
      },
      { signal },
    );
  }

  /** Shows these items. Its cost does not grow with their number, because only visible items are looked at. */
  show(items: readonly Item[]): void {
    this.#items = items;
    this.#draw();
  }

  close(): void {
    this.#stop.abort();
    cancelAnimationFrame(this.#frame);
  }

  #soon(): void {
    cancelAnimationFrame(this.#frame);
    this.#frame = requestAnimationFrame(() => this.#draw());
  }

  #draw(): void {
    const { element, scroller, keyOf } = this.#options;
    const items = this.#items;
    this.#rowHeight ||= this.#measure();
    const height = this.#rowHeight;
    element.style.height = `${items.length * height}px`;
    const frame = scroller instanceof HTMLElement ? scroller.getBoundingClientRect() : { top: 0, height: innerHeight };
    const above = frame.top - element.getBoundingClientRect().top;
    const first = Math.max(0, Math.floor(above / height) - MARGIN_ROWS);
    const seen = items.slice(first, Math.max(first, Math.ceil((above + frame.height) / height) + MARGIN_ROWS));
    const keys = seen.map((item, index) => keyOf(item, first + index));
    this.#removeExcept(new Set(keys));
    let next = element.firstElementChild;
    for (const [index, item] of seen.entries()) {
      const row = this.#row(keys[index] ?? index);
      row.show(item);
      row.element.style.transform = `translateY(${(first + index) * height}px)`;
      row.element.setAttribute('aria-posinset', String(first + index + 1));
      row.element.setAttribute('aria-setsize', String(items.length));
      // The tab key follows the order of the document. A row that is in its place is not moved, so that it keeps the
      // focus.
      if (row.element === next) next = next.nextElementSibling;
      else element.insertBefore(row.element, next);
    }
  }

  #removeExcept(keys: ReadonlySet<string | number>): void {
    for (const [key, row] of this.#rows) {
      if (keys.has(key)) continue;
      row.element.remove();
      this.#rows.delete(key);
    }
  }

  #row(key: string | number): Row<Item> {
    const row = this.#rows.get(key) ?? this.#options.createRow();
    this.#rows.set(key, row);
    return row;
  }

  /** The height of a row in pixels; 0 while there is no item. */
  #measure(): number {
    const [item] = this.#items;
    if (item === undefined) return 0;
    const row = this.#options.createRow();
    row.show(item);
    this.#options.element.append(row.element);
    const { height } = row.element.getBoundingClientRect();
    row.element.remove();
    return height;
  }
}
