// The order of versions of Debian packages, as Debian's policy (section 5.6.12) defines it.

/** Negative when `a` is older than `b`, positive when it is newer. */
export function compareVersions(a: string, b: string): number {
  const [one, two] = [partsOf(a), partsOf(b)];
  return one.epoch - two.epoch || compareParts(one.upstream, two.upstream) || compareParts(one.revision, two.revision);
}

function partsOf(version: string) {
  const colon = version.indexOf(':');
  const rest = version.slice(colon + 1);
  const dash = rest.lastIndexOf('-');
  return {
    epoch: colon < 0 ? 0 : Number(version.slice(0, colon)),
    upstream: dash < 0 ? rest : rest.slice(0, dash),
    revision: dash < 0 ? '' : rest.slice(dash + 1),
  };
}

function compareParts(a: string, b: string): number {
  let [left, right] = [a, b];
  while (left !== '' || right !== '') {
    const [text, otherText] = [leading(/^\D*/, left), leading(/^\D*/, right)];
    const byText = compareTexts(text, otherText);
    if (byText !== 0) return byText;
    left = left.slice(text.length);
    right = right.slice(otherText.length);
    const [number, otherNumber] = [leading(/^\d*/, left), leading(/^\d*/, right)];
    const byNumber = compareNumbers(number, otherNumber);
    if (byNumber !== 0) return byNumber;
    left = left.slice(number.length);
    right = right.slice(otherNumber.length);
  }
  return 0;
}

function leading(pattern: RegExp, text: string): string {
  return pattern.exec(text)?.[0] ?? '';
}

function compareTexts(a: string, b: string): number {
  for (let index = 0; index < Math.max(a.length, b.length); index += 1) {
    const difference = rank(a[index]) - rank(b[index]);
    if (difference !== 0) return difference;
  }
  return 0;
}

/** A tilde comes before the end of the text, letters before all other characters. */
function rank(character: string | undefined): number {
  if (character === '~') return -1;
  if (character === undefined) return 0;
  return /[A-Za-z]/.test(character) ? character.charCodeAt(0) : character.charCodeAt(0) + 256;
}

/** Compares numbers of any length. */
function compareNumbers(a: string, b: string): number {
  const [one, two] = [a.replace(/^0+/, ''), b.replace(/^0+/, '')];
  if (one.length !== two.length) return one.length - two.length;
  return one < two ? -1 : one > two ? 1 : 0;
}
