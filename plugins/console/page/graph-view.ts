// The dependency graph of services, as a picture and in words.
import type { Api } from './api.ts';
import { element, setText, svgElement } from './element.ts';
import { type GraphEdge, layoutOf, NODE_HEIGHT, NODE_WIDTH, type PlacedNode } from './graph-layout.ts';
import { addressOf } from './router.ts';
import type { Service, Services } from './services.ts';
import { toneOf, wordOf } from './status-mark.ts';
import type { View } from './view.ts';
import type { GraphAnswer } from './wire.ts';

/** Longer names are drawn narrower, so that they fit. */
const MAX_NAME = 20;
const STATUS_ROW = 32;
const NAME_ROW = 17;
const TEXT_LEFT = 26;
const TEXT_WIDTH = NODE_WIDTH - TEXT_LEFT - 8;

export class GraphView implements View {
  readonly title = 'Graph';
  readonly element: HTMLElement;
  readonly #api: Api;
  readonly #services: Services;
  readonly #note = element('p', { class: 'muted', role: 'status' }, 'Loading');
  readonly #picture = element('div', {
    class: 'picture',
    tabindex: 0,
    role: 'region',
    'aria-label': 'Picture of the graph',
  });
  readonly #words = element('ul');
  readonly #marks = new Map<string, { readonly node: SVGElement; readonly word: SVGElement }>();
  #drawnFor = '';
  /** Number of the last drawing. Answers for earlier ones are ignored. */
  #drawing = 0;
  #forget: (() => void) | undefined;
  #isOpen = false;

  constructor(api: Api, services: Services) {
    this.#api = api;
    this.#services = services;
    this.element = element(
      'div',
      {},
      this.#note,
      this.#picture,
      element('details', {}, element('summary', {}, 'The same in words'), this.#words),
    );
  }

  open(): void {
    this.#isOpen = true;
    this.#forget = this.#services.changed.add(() => this.#follow());
    this.#follow();
  }

  close(): void {
    this.#isOpen = false;
    this.#forget?.();
  }

  #shown(): readonly Service[] {
    return this.#services.list.filter(
      ({ enabled, status, hasProgram }) => hasProgram && (enabled || status !== 'stopped'),
    );
  }

  #follow(): void {
    const shown = this.#shown();
    const wanted = JSON.stringify(shown.map(({ name }) => name));
    if (shown.length > 0 && wanted !== this.#drawnFor) {
      this.#drawnFor = wanted;
      void this.#draw(shown.map(({ name }) => name));
    }
    for (const service of shown) this.#markOf(service);
    if (shown.length === 0) this.#clear();
  }

  #clear(): void {
    this.#drawing += 1;
    this.#drawnFor = '';
    this.#marks.clear();
    this.#picture.replaceChildren();
    this.#words.replaceChildren();
    setText(this.#note, 'No service is enabled.');
  }

  async #draw(names: readonly string[]): Promise<void> {
    this.#drawing += 1;
    const own = this.#drawing;
    let answer: GraphAnswer;
    try {
      answer = await this.#api.get<GraphAnswer>('process/dependency-graph/whole');
    } catch (error) {
      if (own !== this.#drawing) return;
      setText(this.#note, `The graph cannot be shown: ${(error as Error).message}`);
      this.#drawnFor = '';
      return;
    }
    if (!this.#isOpen || own !== this.#drawing) return;
    const known = new Set(names);
    const shownEdges = answer.edges
      .filter(({ source, target }) => known.has(source) && known.has(target))
      .map(({ source, target, classification }) => ({ source, target, isHard: classification === 'hard' }));
    this.#paint(names, shownEdges);
    this.#say(names, shownEdges);
    for (const service of this.#shown()) this.#markOf(service);
    setText(
      this.#note,
      `Services: ${names.length}. Dependencies: ${shownEdges.length}. What is needed stands to the left.`,
    );
  }

  #paint(names: readonly string[], edges: readonly GraphEdge[]): void {
    const { nodes, width, height } = layoutOf(names, edges);
    const byName = new Map(nodes.map(node => [node.name, node]));
    this.#marks.clear();
    const lines = edges.flatMap(edge => {
      const [from, to] = [byName.get(edge.source), byName.get(edge.target)];
      return from === undefined || to === undefined ? [] : [edgeLine(edge, from, to)];
    });
    const svg = svgElement(
      'svg',
      { width, height, viewBox: `0 0 ${width} ${height}`, role: 'group', 'aria-label': 'Services and what they need' },
      svgElement('g', { 'aria-hidden': 'true' }, ...lines),
      ...nodes.map(node => this.#nodeOf(node)),
    );
    this.#picture.replaceChildren(svg);
  }

  #nodeOf({ name, x, y }: PlacedNode): SVGElement {
    const word = svgElement('tspan', { class: 'word', x: TEXT_LEFT, y: STATUS_ROW });
    const fit = name.length > MAX_NAME ? { textLength: TEXT_WIDTH, lengthAdjust: 'spacingAndGlyphs' } : {};
    const node = svgElement(
      'a',
      { class: 'node', href: addressOf('service', name), transform: `translate(${x} ${y})` },
      svgElement('rect', { width: NODE_WIDTH, height: NODE_HEIGHT, rx: 6 }),
      svgElement('circle', { cx: TEXT_LEFT / 2, cy: NODE_HEIGHT / 2, r: 5 }),
      // The space separates name and status for screen readers.
      svgElement('text', {}, svgElement('tspan', { x: TEXT_LEFT, y: NAME_ROW, ...fit }, name), ' ', word),
    );
    this.#marks.set(name, { node, word });
    return node;
  }

  #markOf(service: Service): void {
    const mark = this.#marks.get(service.name);
    if (mark === undefined) return;
    mark.node.dataset.tone = toneOf(service);
    setText(mark.word, wordOf(service));
  }

  #say(names: readonly string[], edges: readonly GraphEdge[]): void {
    const sentences = names.map(name => {
      const needed = edges.filter(({ target }) => target === name).map(({ source }) => source);
      return needed.length === 0 ? `${name} needs no other service` : `${name} needs ${needed.join(', ')}`;
    });
    this.#words.replaceChildren(...sentences.map(sentence => element('li', {}, sentence)));
  }
}

function edgeLine({ isHard }: GraphEdge, from: PlacedNode, to: PlacedNode): SVGElement {
  const [x, y] = [from.x + NODE_WIDTH, from.y + NODE_HEIGHT / 2];
  const [endX, endY] = [to.x, to.y + NODE_HEIGHT / 2];
  const bend = Math.max(40, Math.abs(endX - x) / 2);
  const line = `M${x} ${y} C${x + bend} ${y} ${endX - bend} ${endY} ${endX} ${endY} m-7 -4 l7 4 l-7 4`;
  return svgElement('path', { class: isHard ? 'edge' : 'edge soft', d: line });
}
