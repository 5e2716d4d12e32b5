// Replaces each `import()` in a script by a call of a function that is handed in, because a script cannot import by
// itself.
import { parseSync } from 'oxc-parser';

/** As long as the word `import` that it replaces, so that source maps stay right. */
export const ON_DEMAND = '$load$';

/**
 * The text with each `import` replaced. Throws an Error when the text cannot be parsed, or has `ON_DEMAND` anywhere but
 * once, as the name of a parameter.
 */
export function importedOnDemand(text: string): string {
  if (text.split(ON_DEMAND).length !== 2) throw new Error(`the name ${ON_DEMAND} is used in a source`);
  const { module, errors } = parseSync('script.js', text, { sourceType: 'module' });
  if (errors.length > 0) throw new Error(`a script of the build cannot be read: ${errors[0]?.message}`);
  let [result, end] = ['', 0];
  for (const { start } of module.dynamicImports.toSorted((a, b) => a.start - b.start)) {
    result += text.slice(end, start) + ON_DEMAND;
    end = start + ON_DEMAND.length;
  }
  return result + text.slice(end);
}
