// Which names a pattern means, where `*` stands for any text. Case does not matter.

export function fitsPattern(name: string, pattern: string): boolean {
  const [first = '', ...others] = pattern.toLowerCase().split('*');
  const text = name.toLowerCase();
  const last = others.pop();
  if (last === undefined) return text === first;
  if (!text.startsWith(first)) return false;
  let from = first.length;
  for (const part of others) {
    const at = text.indexOf(part, from);
    if (at < 0) return false;
    from = at + part.length;
  }
  return text.length - last.length >= from && text.endsWith(last);
}
