// Messages for values that do not fit a schema without a message of its own.
import t from 'tap';
import { z } from 'zod';
import { shapeWords } from '../../../core/kit/shape-words.ts';

const deep = z.union([z.union([z.literal('all'), z.number()]), z.array(z.string())]);

const cases: readonly (readonly [what: string, z.ZodType, value: unknown, words: string])[] = [
  ['nothing', z.string(), undefined, 'it is missing'],
  ['nothing for a choice', z.enum(['a', 'b']), undefined, 'it is missing'],
  ['nothing for alternatives', z.union([z.object({}), z.array(z.string())]), undefined, 'it is missing'],
  ['null', z.string(), null, 'it must be text, not null'],
  ['a list', z.object({}), [], 'it must be an object, not a list'],
  ['a text for a number', z.number(), '5', 'it must be a number, not text'],
  ['no finite number', z.number(), Number.POSITIVE_INFINITY, 'it must be a number, not Infinity'],
  ['a text for a boolean', z.boolean(), 'maybe', 'it must be true or false, not text'],
  ['a fraction', z.int(), 1.5, 'it must be a whole number'],
  ['a large number', z.number().max(65_535), 70_000, 'it must be at most 65535'],
  ['a small number', z.number().min(1), 0, 'it must be at least 1'],
  ['zero', z.number().positive(), 0, 'it must be more than 0'],
  ['an empty text', z.string().min(1), '', 'it must not be empty'],
  ['a short text', z.string().min(3), 'a', 'it must have at least 3 characters'],
  ['a long list', z.array(z.number()).max(1), [1, 2], 'it must have at most 1 element'],
  ['a path without a slash', z.string().startsWith('/'), 'a', 'it must begin with "/"'],
  ['a pattern', z.string().regex(/^[a-z]+$/), '1', 'it must match /^[a-z]+$/'],
  ['no URL', z.url(), 'x', 'it must be a URL'],
  ['no mail', z.email(), 'x', 'it must be an e-mail address'],
  ['none of a choice', z.enum(['a', 'b', 'c']), 'd', 'it must be "a", "b" or "c"'],
  ['an unknown member', z.strictObject({}), { nope: 1 }, '"nope" is none of its members'],
  ['none of the alternatives', deep, true, 'it must be "all", a number or a list'],
  [
    'nearly one of several',
    z.union([z.string().min(2), z.string().startsWith('/')]),
    'a',
    'it has none of the forms that it may have',
  ],
  ['words of the schema', z.string({ error: 'a name is needed' }), 5, 'a name is needed'],
];

for (const [what, schema, value, words] of cases) {
  t.test(what, async t => {
    t.equal(schema.safeParse(value, { error: shapeWords }).error?.issues[0]?.message, words);
  });
}
