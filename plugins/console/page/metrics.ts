// The samples of the machine from the stream of metrics, while the page is open. Without a plugin for metrics there are
// none.
import type { Api } from './api.ts';
import { Listeners } from './listeners.ts';
import { LiveStream } from './live-stream.ts';
import { SampleSeries } from './sample-series.ts';
import type { ChartAnswer, Sample } from './wire.ts';

const MAX_POINTS = 1_000;

export class Metrics {
  readonly changed = new Listeners();
  readonly series = new SampleSeries();
  readonly #api: Api;
  readonly #stream: LiveStream;
  #latest: Sample | undefined;
  /** Number of the last read of the history. Answers of earlier reads are ignored. */
  #reading = 0;

  constructor(api: Api) {
    this.#api = api;
    this.#stream = new LiveStream({
      api,
      path: 'ws/metrics',
      query: { interval: '2' },
      onMessage: message => this.#take((message as { readonly data: Sample }).data),
    });
  }

  get latest(): Sample | undefined {
    return this.#latest;
  }

  open(): void {
    this.#stream.open();
  }

  retry(): void {
    this.#stream.retry();
  }

  close(): void {
    this.#stream.close();
  }

  /** Reads the history of the last `spanS` seconds. Gives false when the host keeps none. Rejects with an ApiError. */
  async readHistory(spanS: number): Promise<boolean> {
    this.#reading += 1;
    const own = this.#reading;
    const query = { since: String(Math.floor(Date.now() / 1_000 - spanS)), max_points: String(MAX_POINTS) };
    const kept = await this.#api.find<ChartAnswer>('metrics/history_series', query);
    if (kept === undefined) return false;
    if (own !== this.#reading) return true;
    this.series.replace(kept, spanS);
    this.changed.tell();
    return true;
  }

  #take(sample: Sample): void {
    this.#latest = sample;
    this.series.add(sample);
    this.changed.tell();
  }
}
