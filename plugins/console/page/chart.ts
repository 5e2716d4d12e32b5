// One chart of a few curves over time. It takes its colours from the style sheet, and shows its values as text, too.

/*! Charts by uPlot. Copyright (c) 2025, Leon Sorokin. All rights reserved. (MIT Licensed) */
import uPlot from 'uplot';
import { element, setText } from './element.ts';
import { clockText } from './format.ts';
import type { Curve, SampleSeries } from './sample-series.ts';

export interface ChartOptions {
  readonly title: string;
  readonly curves: readonly { readonly curve: Curve; readonly label: string }[];
  /** Upper end of the axis; without it the axis follows the values. */
  readonly max?: number;
  readonly text: (value: number | null) => string;
  /** Steps that may lie between the marks of the axis. Default: decimal steps. */
  readonly steps?: readonly number[];
}

const HEIGHT_PX = 180;
const AXIS_PX = 84;
const TIME_AXIS_PX = 30;
/** The least number of pixels between two marks of the time axis, which leaves room for a time of day. */
const TIME_SPACE_PX = 70;

export class Chart {
  readonly element: HTMLElement;
  readonly #options: ChartOptions;
  readonly #caption = element('figcaption');
  readonly #values: readonly HTMLElement[];
  readonly #time = element('span');
  readonly #canvas: HTMLElement;
  readonly #observer = new ResizeObserver(() => this.#resize());
  #plot: uPlot | undefined;
  #series: SampleSeries | undefined;

  constructor(options: ChartOptions) {
    this.#options = options;
    this.#canvas = element('div', { class: 'canvas', role: 'img', 'aria-label': `${options.title} over time` });
    this.#values = options.curves.map(() => element('span'));
    for (const [place, { label }] of options.curves.entries()) {
      const key = element('span', { class: 'key', 'data-curve': place }, label);
      this.#caption.append(place === 0 ? `${options.title}: ` : ', ', key, ' ', this.#values[place] ?? '');
    }
    this.#caption.append(this.#time);
    this.element = element('figure', { class: 'chart' }, this.#caption, this.#canvas);
  }

  show(series: SampleSeries): void {
    this.#series = series;
    this.#say(this.#plot?.cursor.idx ?? null);
    if (this.#plot === undefined) {
      this.#observer.observe(this.#canvas);
      this.redraw();
    } else this.#plot.setData(this.#data());
  }

  /** Draws the chart anew, for example in other colours. */
  redraw(): void {
    if (this.#series === undefined) return;
    this.#plot?.destroy();
    this.#plot = new uPlot(this.#plotOptions(), this.#data(), this.#canvas);
  }

  close(): void {
    this.#observer.disconnect();
    this.#plot?.destroy();
    this.#plot = undefined;
  }

  /** Shows the values at index `at`, or the newest ones. */
  #say(at: number | null): void {
    const series = this.#series;
    if (series === undefined) return;
    const { curves, text } = this.#options;
    const index = at ?? series.times.length - 1;
    for (const [place, { curve }] of curves.entries()) {
      const value = this.#values[place];
      if (value !== undefined) setText(value, text(series.of(curve)[index] ?? null));
    }
    const time = series.times[index];
    setText(this.#time, at === null || time === undefined ? '' : ` at ${clockText(time, 1)}`);
  }

  #data(): uPlot.AlignedData {
    const series = this.#series;
    if (series === undefined) return [[]];
    return [[...series.times], ...this.#options.curves.map(({ curve }) => [...series.of(curve)])];
  }

  #resize(): void {
    this.#plot?.setSize({ width: this.#canvas.clientWidth, height: HEIGHT_PX });
  }

  #plotOptions(): uPlot.Options {
    const { curves, max, text, steps } = this.#options;
    const style = getComputedStyle(this.#canvas);
    const colour = (name: string): string => style.getPropertyValue(name).trim();
    const axis = { stroke: colour('--muted'), grid: { stroke: colour('--line'), width: 1 }, ticks: { show: false } };
    return {
      width: this.#canvas.clientWidth,
      height: HEIGHT_PX,
      legend: { show: false },
      hooks: { setCursor: [({ cursor }) => this.#say(cursor.idx ?? null)] },
      cursor: { drag: { x: false, y: false } },
      scales: { y: { range: (_plot, _least, most) => [0, max ?? Math.max(most ?? 0, 1) * 1.1] } },
      axes: [
        {
          ...axis,
          size: TIME_AXIS_PX,
          space: TIME_SPACE_PX,
          values: (_plot, times, _axis, _space, stepS) => times.map(timeS => clockText(timeS, stepS)),
        },
        {
          ...axis,
          size: AXIS_PX,
          values: (_plot, values) => values.map(value => text(value)),
          ...(steps === undefined ? {} : { incrs: [...steps] }),
        },
      ],
      series: [
        {},
        ...curves.map(({ label }, index) => ({
          label,
          stroke: colour(index === 0 ? '--curve' : '--curve-other'),
          width: 2,
          points: { show: false },
          spanGaps: false,
        })),
      ],
    };
  }
}
