// Addresses of views: `#/` is followed by the name of a view and its subject.

export interface Place {
  readonly view: string;
  /** For example the name of a service; empty for a view that is about nothing in particular. */
  readonly subject: string;
}

export function addressOf(view: string, subject = ''): string {
  return subject === '' ? `#/${view}` : `#/${view}/${encodeURIComponent(subject)}`;
}

export function placeNow(): Place {
  const [view = '', subject = ''] = location.hash.replace(/^#\/?/, '').split('/');
  try {
    return { view, subject: decodeURIComponent(subject) };
  } catch {
    return { view, subject: '' };
  }
}
