// Sets required plugins that failed at run time up again, with growing pauses and a limited number of attempts.
import { durationText } from './duration-text.ts';

export interface RecoveryOptions {
  readonly tell: (message: string) => void;
  /** Pauses before consecutive attempts; after the last one `giveUp` is called. */
  readonly pausesMs: readonly number[];
  /** A plugin that was ready for this long starts again with the first pause. */
  readonly settledMs: number;
  /** Sets the plugin up again. */
  readonly attempt: (plugin: string) => Promise<void>;
  /** Called when all attempts have failed. */
  readonly giveUp: (plugin: string, reason: string) => void;
}

interface Watch {
  attempts: number;
  readyMs: number | undefined;
  timer: NodeJS.Timeout | undefined;
}

export class Recovery {
  readonly #options: RecoveryOptions;
  readonly #watches = new Map<string, Watch>();
  #ended = false;

  constructor(options: RecoveryOptions) {
    this.#options = options;
  }

  /** Takes note of the present state of a required plugin; `reason` explains why it is not ready. */
  look(plugin: string, isReady: boolean, reason: string): void {
    if (this.#ended) return;
    const watch: Watch = this.#watches.get(plugin) ?? { attempts: 0, readyMs: undefined, timer: undefined };
    this.#watches.set(plugin, watch);
    if (isReady) {
      watch.readyMs ??= performance.now();
      clearTimeout(watch.timer);
      watch.timer = undefined;
      return;
    }
    if (watch.timer !== undefined) return;
    const { pausesMs, settledMs, tell, attempt, giveUp } = this.#options;
    if (watch.readyMs !== undefined && performance.now() - watch.readyMs >= settledMs) watch.attempts = 0;
    watch.readyMs = undefined;
    const pauseMs = pausesMs[watch.attempts];
    if (pauseMs === undefined) {
      giveUp(plugin, reason);
      return;
    }
    watch.attempts += 1;
    tell(`the required plugin ${plugin} failed and is set up again in ${durationText(pauseMs)}: ${reason}`);
    watch.timer = setTimeout(() => {
      watch.timer = undefined;
      void attempt(plugin);
    }, pauseMs);
  }

  end(): void {
    this.#ended = true;
    for (const { timer } of this.#watches.values()) clearTimeout(timer);
  }
}
