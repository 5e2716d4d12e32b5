// The number of terminal columns that a text takes, by which tables are laid out.
import t from 'tap';
import { textWidth } from '../../../core/cli/text-width.ts';

t.test('wide, combining and control characters take their own number of columns', async t => {
  for (const [text, width] of [
    ['', 0],
    ['Store', 5],
    ['Näme', 4],
    ['Na\u0308me', 4],
    ['映画', 4],
    ['ｶﾞ', 2],
    ['Ａ、', 4],
    ['한국', 4],
    ['\u1112\u1161\u11ab', 2],
    ['กำ', 2],
    ['क्ष', 2],
    ['𠮷', 2],
    ['👍', 2],
    ['👍🏽', 2],
    ['👨\u200d👩\u200d👧', 2],
    ['🇩🇪', 2],
    ['❤', 1],
    ['❤\ufe0f', 2],
    ['a\u200b\u2060b', 2],
    ['a\u00adb', 3],
    ['٣½→', 3],
  ] as const) {
    t.equal(textWidth(text), width, JSON.stringify(text));
  }
});
