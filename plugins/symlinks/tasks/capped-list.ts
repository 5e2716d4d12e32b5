// A list of an answer: the first elements, as many as clients can show, and the true number of elements.
const MAX_ELEMENTS = 1_000;
/** Three lists of this size fit into an answer. */
const MAX_CHARACTERS = 400_000;

export class CappedList {
  readonly elements: unknown[] = [];
  total = 0;
  #characters = 0;

  get isCut(): boolean {
    return this.total > this.elements.length;
  }

  add(element: object): void {
    this.addLine(() => JSON.stringify(element));
  }

  /** `line` gives the JSON of the element; it is not called when the list is full. */
  addLine(line: () => string): void {
    this.total += 1;
    if (this.elements.length >= MAX_ELEMENTS || this.total > this.elements.length + 1) return;
    const text = line();
    if (this.#characters + text.length > MAX_CHARACTERS) return;
    this.#characters += text.length;
    this.elements.push(JSON.parse(text));
  }
}
