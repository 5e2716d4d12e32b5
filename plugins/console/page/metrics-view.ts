// Charts of the machine, the space on its file systems, and what the services use.
import { Chart } from './chart.ts';
import { element, field, setText } from './element.ts';
import { bytesText, percentText, rateText } from './format.ts';
import type { Metrics } from './metrics.ts';
import { addressOf } from './router.ts';
import type { View } from './view.ts';
import type { Sample } from './wire.ts';

const SPANS: readonly { readonly seconds: number; readonly label: string }[] = [
  { seconds: 900, label: '15 minutes' },
  { seconds: 21_600, label: '6 hours' },
  { seconds: 86_400, label: '1 day' },
  { seconds: 604_800, label: '7 days' },
];
/** Powers of two, because bytes are counted in them. */
const BYTE_STEPS = Array.from({ length: 50 }, (_, power) => 2 ** power);
const MAX_SERVICES = 20;
const FULL_PERCENT = 90;

export class MetricsView implements View {
  readonly title = 'Metrics';
  readonly element: HTMLElement;
  readonly #metrics: Metrics;
  readonly #charts = [
    new Chart({ title: 'CPU', curves: [{ curve: 'cpu', label: '' }], max: 100, text: percentText }),
    new Chart({ title: 'Memory', curves: [{ curve: 'mem', label: '' }], max: 100, text: percentText }),
    new Chart({
      title: 'Disk',
      curves: [
        { curve: 'disk_read_rate', label: 'read' },
        { curve: 'disk_write_rate', label: 'written' },
      ],
      text: rateText,
      steps: BYTE_STEPS,
    }),
    new Chart({
      title: 'Network',
      curves: [
        { curve: 'net_recv_rate', label: 'received' },
        { curve: 'net_sent_rate', label: 'sent' },
      ],
      text: rateText,
      steps: BYTE_STEPS,
    }),
  ];
  readonly #span = element(
    'select',
    { change: () => void this.#readHistory() },
    ...SPANS.map(({ seconds, label }) => element('option', { value: seconds }, label)),
  );
  readonly #note = element('p', { class: 'muted', role: 'status' }, 'Waiting for the first sample');
  readonly #places = element('ul', { class: 'places', 'aria-label': 'File systems' });
  readonly #rows = element('tbody');
  readonly #colours = matchMedia('(prefers-color-scheme: dark)');
  readonly #stop = new AbortController();
  #forget: (() => void) | undefined;

  constructor(metrics: Metrics) {
    this.#metrics = metrics;
    this.element = element(
      'div',
      {},
      element('div', { class: 'bar' }, field('Time', this.#span), this.#note),
      element('div', { class: 'charts' }, ...this.#charts.map(chart => chart.element)),
      element('h2', {}, 'File systems'),
      this.#places,
      element('h2', {}, 'Services'),
      element(
        'table',
        {},
        element(
          'thead',
          {},
          element('tr', {}, ...['Service', 'CPU', 'Memory'].map(name => element('th', { scope: 'col' }, name))),
        ),
        this.#rows,
      ),
    );
  }

  open(): void {
    this.#forget = this.#metrics.changed.add(() => this.#draw());
    const { signal } = this.#stop;
    this.#colours.addEventListener('change', () => this.#charts.forEach(chart => void chart.redraw()), { signal });
    this.#draw();
    void this.#readHistory();
  }

  close(): void {
    this.#stop.abort();
    this.#forget?.();
    for (const chart of this.#charts) chart.close();
  }

  async #readHistory(): Promise<void> {
    try {
      const isKept = await this.#metrics.readHistory(Number(this.#span.value));
      this.#span.disabled = !isKept;
    } catch (error) {
      setText(this.#note, `What was kept cannot be shown: ${(error as Error).message}`);
    }
  }

  #draw(): void {
    const sample = this.#metrics.latest;
    if (sample === undefined) return;
    setText(this.#note, '');
    for (const chart of this.#charts) chart.show(this.#metrics.series);
    this.#places.replaceChildren(...sample.system.filesystems.map(placeItem));
    const busiest = sample.dumb_managed.toSorted((a, b) => b.rss - a.rss).slice(0, MAX_SERVICES);
    this.#rows.replaceChildren(...busiest.map(serviceRow));
  }
}

function placeItem({ path, used, total, percent }: Sample['system']['filesystems'][number]): HTMLElement {
  const full = percent ?? 0;
  const text = `${path}: ${bytesText(used)} of ${bytesText(total)}, ${percentText(percent)}`;
  const meter = element('meter', { min: 0, max: 100, high: FULL_PERCENT, optimum: 0, value: full, 'aria-label': path });
  return element('li', {}, element('span', {}, text), meter);
}

function serviceRow({ name, cpu_percent: cpu, rss }: Sample['dumb_managed'][number]): HTMLElement {
  return element(
    'tr',
    {},
    element('th', { scope: 'row' }, element('a', { href: addressOf('service', name) }, name)),
    element('td', {}, percentText(cpu)),
    element('td', {}, bytesText(rss)),
  );
}
