// Sentences about something that has a name, which stands in them once: whoever gave the reason may have named it
// already.

export function namedReason(name: string, reason: string): string {
  return reason.includes(name) ? reason : `${name}: ${reason}`;
}

/** The reason without the name in front, for a sentence that has named it: `Web: not ready`, `Web failed`. */
export function unnamedReason(name: string, reason: string): string {
  if (reason.startsWith(`${name}: `)) return reason.slice(name.length + 2);
  return reason.startsWith(`${name} `) ? `it${reason.slice(name.length)}` : reason;
}
