// Lists every regular expression of the product and says which takes more than linear time: `npm run regexes`.
import { findPatterns, findSlowInput } from './patterns.ts';

const { patterns } = await findPatterns();
let slow = 0;
for (const pattern of patterns) {
  const input = findSlowInput(pattern);
  if (input !== undefined) slow += 1;
  const verdict = input === undefined ? 'linear' : `SLOW for ${JSON.stringify(input)} repeated`;
  console.log(`${pattern.place}  /${pattern.source}/${pattern.flags}  ${verdict}`);
}
console.log(`${patterns.length} patterns, ${slow} slow`);
process.exitCode = slow === 0 ? 0 : 1;
