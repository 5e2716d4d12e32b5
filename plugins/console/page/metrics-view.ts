// Shows charts of the machine, the space on its file systems, and the usage of the services.
import { Chart } from './chart.ts';
import { element, field, fit, setText } from './element.ts';
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
  /** Why the history of the chosen time cannot be shown; empty when it can. */
  #historyFault = '';

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
    const asked = this.#span.value;
    let fault = '';
    try {
      const isKept = await this.#metrics.readHistory(Number(asked));
      this.#span.disabled = !isKept;
    } catch (error) {
      fault = `What was kept cannot be shown: ${(error as Error).message}`;
    }
    // The answer for a later choice counts.
    if (asked !== this.#span.value) return;
    this.#historyFault = fault;
    if (fault !== '' || this.#metrics.latest !== undefined) setText(this.#note, fault);
  }

  #draw(): void {
    const sample = this.#metrics.latest;
    if (sample === undefined) return;
    setText(this.#note, this.#historyFault);
    for (const chart of this.#charts) chart.show(this.#metrics.series);
    const { filesystems: places } = sample.system;
    for (const [index, item] of fit(this.#places, places.length, createPlaceItem).entries())
      showPlace(item, places[index]);
    const busiest = sample.dumb_managed.toSorted((a, b) => b.rss - a.rss).slice(0, MAX_SERVICES);
    for (const [index, row] of fit(this.#rows, busiest.length, createServiceRow).entries())
      showService(row, busiest[index]);
  }
}

function createPlaceItem(): HTMLElement {
  return element('li', {}, element('span'), element('meter', { min: 0, max: 100, high: FULL_PERCENT, optimum: 0 }));
}

function showPlace(item: Element, place: Sample['system']['filesystems'][number] | undefined): void {
  const [text, meter] = item.children;
  if (place === undefined || text === undefined || !(meter instanceof HTMLMeterElement)) return;
  const { path, used, total, percent } = place;
  setText(text, `${path}: ${bytesText(used)} of ${bytesText(total)}, ${percentText(percent)}`);
  meter.setAttribute('aria-label', path);
  meter.value = percent ?? 0;
}

function createServiceRow(): HTMLElement {
  return element('tr', {}, element('th', { scope: 'row' }, element('a')), element('td'), element('td'));
}

function showService(row: Element, usage: Sample['dumb_managed'][number] | undefined): void {
  const [, cpu, memory] = row.children;
  const link = row.querySelector('a');
  if (usage === undefined || link === null || cpu === undefined || memory === undefined) return;
  setText(link, usage.name);
  link.href = addressOf('service', usage.name);
  setText(cpu, percentText(usage.cpu_percent));
  setText(memory, bytesText(usage.rss));
}
