// Sentences about something that has a name, which stands in them once: whoever gave the reason may have named it already.

export function namedReason(name: string, reason: string): string {
  return reason.includes(name) ? reason : `${name}: ${reason}`;
}

/** The reason without the name in front, for a sentence that has named it. */
export function unnamedReason(name: string, reason: string): string {
  return reason.startsWith(`${name} `) || reason.startsWith(`${name}: `)
    ? reason.slice(name.length).replace(/^:? /, '')
    : reason;
}
