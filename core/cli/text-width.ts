// How many columns of a terminal a text takes: East Asian characters and emoji take two, marks and joiners none.

const ASCII = /^[\x20-\x7e]*$/;
/** Drawn in colour, also where only what follows the character asks for that; with its parts it is one sign. */
const EMOJI = /\p{Emoji_Presentation}|\p{Emoji}\ufe0f/u;
/** A soft hyphen is drawn, as terminals do not break lines there; the medial letters of Hangul join the first one. */
const NONE = /^(?!\xad)[\p{Mn}\p{Me}\p{Default_Ignorable_Code_Point}\u1160-\u11ff\ud7b0-\ud7ff]$/u;
/** What Unicode calls wide or full (UAX 11), by its blocks: expressions know no property for that. */
const WIDE = [
  /^[\u1100-\u115f\u2329\u232a\u2630-\u2637\u268a-\u268f\u2e80-\u303e\u3041-\u3247\u3250-\ua4cf\ua960-\ua97f]$/,
  /^[\uac00-\ud7a3\uf900-\ufaff\ufe10-\ufe19\ufe30-\ufe6b\uff01-\uff60\uffe0-\uffe6\u{16fe0}-\u{18dff}]$/u,
  /^[\u{1aff0}-\u{1b2ff}\u{1d300}-\u{1d376}\u{1f200}-\u{1f265}\u{20000}-\u{3fffd}]$/u,
];

let segmenter: Intl.Segmenter | undefined;

export function textWidth(text: string): number {
  if (ASCII.test(text)) return text.length;
  segmenter ??= new Intl.Segmenter();
  let width = 0;
  for (const { segment } of segmenter.segment(text)) width += EMOJI.test(segment) ? 2 : widthOfAll(segment);
  return width;
}

function widthOfAll(segment: string): number {
  return [...segment].reduce((width, character) => width + widthOf(character), 0);
}

function widthOf(character: string): number {
  if (NONE.test(character)) return 0;
  return WIDE.some(block => block.test(character)) ? 2 : 1;
}
