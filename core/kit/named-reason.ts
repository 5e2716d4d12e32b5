// Joins the name of a thing and a reason that may hold the name already, so that the sentence names it once.

export function namedReason(name: string, reason: string): string {
  return reason.includes(name) ? reason : `${name}: ${reason}`;
}

/** The reason without the name in front, for a sentence that has named it: `Web: not ready`, `Web failed`. */
export function unnamedReason(name: string, reason: string): string {
  if (reason.startsWith(`${name}: `)) return reason.slice(name.length + 2);
  return reason.startsWith(`${name} `) ? `it${reason.slice(name.length)}` : reason;
}
