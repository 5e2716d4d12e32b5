// Notices: short sentences about the outcome of an action, which vanish after a while and which screen readers read
// out.
import { element } from './element.ts';

const SHOWN_MS = 8_000;

const region = element('div', { class: 'notices', role: 'status', 'aria-live': 'polite' });

export function noticeRegion(): HTMLElement {
  return region;
}

export function tell(sentence: string, kind: 'done' | 'failed' = 'done'): void {
  const notice = element('p', { class: `notice ${kind}` }, sentence);
  region.append(notice);
  setTimeout(() => notice.remove(), SHOWN_MS);
}
