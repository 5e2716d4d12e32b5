// The state of a service as a word with a colour. The colour alone carries no meaning that the word does not have.
import { element, setText } from './element.ts';
import type { Service } from './services.ts';

export type Tone = 'good' | 'busy' | 'bad' | 'off';

export function toneOf({ status, health, enabled, isDone }: Service): Tone {
  if (status === 'starting' || status === 'stopping' || health === 'starting') return 'busy';
  if (status === 'running') return health === 'unhealthy' ? 'bad' : health === 'degraded' ? 'busy' : 'good';
  return enabled && !isDone ? 'bad' : 'off';
}

export function wordOf({ status, health }: Service): string {
  return status === 'running' && health !== null && health !== 'healthy' ? health : status;
}

export class StatusMark {
  readonly element = element('span', { class: 'mark' });

  show(service: Service): void {
    this.element.dataset.tone = toneOf(service);
    setText(this.element, wordOf(service));
  }
}
