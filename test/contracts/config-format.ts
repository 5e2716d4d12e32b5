// The contract of configuration file formats: runs any format against its own table of edits and refusals.
import type { Test } from 'tap';
import { deepEqual } from '../../core/kit/deep-equal.ts';
import type { ConfigFormat, FileObject } from '../../plugins/config-files/contract.ts';

export interface FormatCase {
  /** What the case is about, for the messages of the test. */
  readonly name: string;
  readonly text: string;
  readonly updates: FileObject;
  /** The whole text after the edit, or the part of it that changes and its replacement. */
  readonly becomes: string | readonly [from: string, to: string];
  readonly mode?: 'merge' | 'replace';
}

export interface RefusedText {
  readonly name: string;
  readonly text: string;
  /** The updates that are refused; without them, parsing the text is refused. */
  readonly updates?: FileObject;
  readonly mode?: 'merge' | 'replace';
  readonly status: number;
  readonly message: RegExp;
}

export function holdFormat(
  t: Test,
  format: ConfigFormat,
  { cases, refused }: { readonly cases: readonly FormatCase[]; readonly refused: readonly RefusedText[] },
): void {
  t.test(`${format.name}: one value changes, every other byte stays`, async t => {
    for (const { name, text, updates, becomes, mode = 'merge' } of cases) {
      const parsed = await format.parse(text);
      for (const same of [parsed, JSON.parse(JSON.stringify(parsed)) as FileObject])
        t.same(
          await format.edit(text, same, 'merge'),
          { text, changed: 0 },
          `${name}: what is the same is not touched`,
        );
      const edited = await format.edit(text, updates, mode);
      const expected = typeof becomes === 'string' ? becomes : text.replace(becomes[0], () => becomes[1]);
      t.equal(edited.text, expected, name);
      t.ok(edited.changed > 0, `${name}: counted`);
      const wanted = (await format.readBack?.(updates, text)) ?? updates;
      t.ok(contains(await format.parse(edited.text), wanted), `${name}: reads back as sent`);
      t.same(
        await format.edit(edited.text, updates, mode),
        { text: edited.text, changed: 0 },
        `${name}: a second time`,
      );
    }
  });

  t.test(`${format.name}: refusals`, async t => {
    for (const { name, text, updates, mode = 'merge', status, message } of refused) {
      const act = async () => (updates === undefined ? format.parse(text) : format.edit(text, updates, mode));
      await t.rejects(act, { status, message }, name);
    }
  });
}

function contains(found: unknown, wanted: unknown): boolean {
  if (typeof wanted !== 'object' || wanted === null || Array.isArray(wanted)) return deepEqual(found, wanted);
  if (typeof found !== 'object' || found === null) return false;
  const members = found as FileObject;
  return Object.entries(wanted).every(([key, value]) => contains(members[key], value));
}
