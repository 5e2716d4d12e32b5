// Imports on demand in a script: V8 asks somebody for them, so they become calls of a function that is handed in.
import { parseSync } from 'oxc-parser';

/** As long as the word that it replaces, so that everything keeps its place in source maps. */
export const ON_DEMAND = '$load$';

/** The text of a script, in which `ON_DEMAND` is the name of a parameter and nothing else, with calls of that. */
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
