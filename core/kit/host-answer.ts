// The answers of the host as commands read them: any other service may answer at the address, and with anything.
import { isObject } from './plain-object.ts';

/** Members of an answer, of which only the kinds count. A list has one element, as which all others have to be. */
type Example<Answer> = Answer extends string
  ? string
  : Answer extends number
    ? number
    : Answer extends boolean
      ? boolean
      : Answer extends readonly (infer Element)[]
        ? readonly Example<Element>[]
        : Answer extends object
          ? { readonly [Member in keyof Answer]?: Example<Answer[Member]> }
          : never;

/** The answer itself. Throws an Error when it is not like the example, which needs only the members that are read. */
export function hostAnswer<Answer>(answer: unknown, example: Example<Answer>): Answer {
  if (isLike(answer, example)) return answer as Answer;
  throw new Error('what answers is no Stackwarden; look at the address');
}

function isLike(value: unknown, example: unknown): boolean {
  if (Array.isArray(example)) {
    const [first] = example as readonly unknown[];
    return Array.isArray(value) && (first === undefined || value.every(element => isLike(element, first)));
  }
  if (!isObject(example)) return typeof value === typeof example;
  return isObject(value) && Object.entries(example).every(([name, member]) => isLike(value[name], member));
}
