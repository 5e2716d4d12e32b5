// Patterns of names, compared with a plain definition of what they mean.
import fc from 'fast-check';
import t from 'tap';
import { fitsPattern, namesThatFit } from '../../../core/kit/name-pattern.ts';
import { matchesLogPattern } from '../../../core/kit/service-log.ts';

/** A slow implementation that follows the definition. */
function means(pattern: string, name: string): boolean {
  if (pattern === '') return name === '';
  if (pattern[0] === '*') return means(pattern.slice(1), name) || (name !== '' && means(pattern, name.slice(1)));
  return name !== '' && pattern[0] === name[0] && means(pattern.slice(1), name.slice(1));
}

t.test('a pattern matches exactly what its definition says', async t => {
  const letters = (most: number, ...units: string[]) => fc.string({ unit: fc.constantFrom(...units), maxLength: most });
  const law = fc.property(letters(8, 'a', 'b', '*'), letters(10, 'a', 'b'), (pattern, name) => {
    t.equal(fitsPattern(name, pattern), means(pattern, name), `'${pattern}' for '${name}'`);
  });
  fc.assert(law, { numRuns: 300 });
  t.ok(fitsPattern('Example Web', 'example *'), 'in any case');
});

t.test('a pattern of log names has any text in place of dates', async t => {
  t.ok(matchesLogPattern('app-2025-01-02.log', 'app-<date>.log'));
  t.ok(matchesLogPattern('a-1-b-2.log', 'a-<date>-b-<date>.log'));
  for (const name of ['App-1.log', 'app-1.log.1', 'app-.lo', 'app.log'])
    t.notOk(matchesLogPattern(name, 'app-<date>.log'), name);
  t.notOk(matchesLogPattern('a-b.log', 'a-<date>-b<date>b.log'), 'no part counts twice');
  t.notOk(matchesLogPattern('app.log.1', 'app.log'));
});

t.test('names keep their order, each appears once, and an asterisk in a name is literal', async t => {
  const names = ['Web', 'Worker', 'W*'];
  t.same(namesThatFit(names, ['worker', 'w*', 'Web']), ['Web', 'Worker', 'W*']);
  t.same(namesThatFit(names, ['W*']), ['W*']);
  t.same(namesThatFit(names, ['we*', 'worker'], ['Web']), ['Web', 'Worker'], 'an asterisk means what is in use');
  t.throws(() => namesThatFit(names, ['Web', 'Wrker']), { message: "no service fits 'Wrker'; did you mean 'Worker'?" });
});
