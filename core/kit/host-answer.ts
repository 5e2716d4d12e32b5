// The answers of the host as commands read them: any other service may answer at the address, and with anything.
import { isObject } from './plain-object.ts';

/** A value of the same kind is expected; in an object its members, in a list each element as the first one here. */
type Example = string | number | boolean | readonly Example[] | { readonly [member: string]: Example };

/** The answer itself. Throws an Error when it is not like the example, which needs only the members that are read. */
export function hostAnswer<Answer>(answer: unknown, example: Example): Answer {
  if (isLike(answer, example)) return answer as Answer;
  throw new Error('what answers is no Stackwarden; look at the address');
}

function isLike(value: unknown, example: Example): boolean {
  if (Array.isArray(example)) {
    const [first] = example as readonly Example[];
    return Array.isArray(value) && (first === undefined || value.every(element => isLike(element, first)));
  }
  if (!isObject(example)) return typeof value === typeof example;
  return isObject(value) && Object.entries(example).every(([name, member]) => isLike(value[name], member as Example));
}
