// Brings required plugins back that failed while the host runs: again and again with longer pauses, and not for ever.
import { durationText } from './deadline-timer.ts';

export interface RecoveryOptions {
  readonly tell: (message: string) => void;
  /** Pauses before the attempts in a row; after the last one it is given up. */
  readonly pausesMs: readonly number[];
  /** A plugin that has been ready for so long starts with the first pause again. */
  readonly settledMs: number;
  /** Sets the plugin up again. */
  readonly attempt: (plugin: string) => Promise<void>;
  /** Nothing brings the plugin back. */
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

  /** What is known of a required plugin now; `reason`: why it is not ready. */
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
