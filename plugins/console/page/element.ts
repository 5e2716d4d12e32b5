// Makes elements of the document. Texts are always inserted as text, never as markup.

type Value = string | number | boolean | ((event: Event) => void);
export type Attributes = Readonly<Record<string, Value>>;
export type Child = Node | string;

/** A function becomes a listener of the event, `true` an attribute without a value, `false` none. */
export function element<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[Tag] {
  return filled(document.createElement(tag), attributes, children);
}

export function svgElement<Tag extends keyof SVGElementTagNameMap>(
  tag: Tag,
  attributes: Attributes = {},
  ...children: Child[]
): SVGElementTagNameMap[Tag] {
  return filled(document.createElementNS('http://www.w3.org/2000/svg', tag), attributes, children);
}

function filled<Made extends Element>(made: Made, attributes: Attributes, children: readonly Child[]): Made {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === 'function') made.addEventListener(name, value);
    else if (value !== false) made.setAttribute(name, value === true ? '' : String(value));
  }
  made.append(...children);
  return made;
}

/** Sets the text of an element. An equal text is not set again, so that nothing is redrawn or read out again. */
export function setText(target: Element, text: string): void {
  if (target.textContent !== text) target.textContent = text;
}

/** A labelled field of a form. */
export function field(label: string, control: HTMLElement): HTMLLabelElement {
  return element('label', { class: 'field' }, element('span', {}, label), control);
}

/** Gives a parent `count` children. Children that it has already stay, so that the focus and the selection stay too. */
export function fit(parent: Element, count: number, create: () => Element): readonly Element[] {
  while (parent.children.length > count) parent.lastElementChild?.remove();
  while (parent.children.length < count) parent.append(create());
  return [...parent.children];
}
