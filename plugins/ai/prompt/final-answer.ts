// The answer that is shown for a question about a stack. Two kinds of questions have one right answer, which the
// product knows itself and which comes before or replaces the model's.
import { isObject } from '#kit/plain-object';
import type { PromptEvidence } from './messages.ts';
import { isPlanning } from './planning.ts';

const IDENTITY = ['stand for', 'stands for', 'define', 'acronym', 'expansion', 'full name', 'meaning'];
const ADVICE = /recommend|choose|install|add one|primary|download client|set up/i;
const NEGATION = /\b(?:not|never|no|avoid|without|instead of|rather than)\b|n't\b/i;
const SENTENCE_END = /(?<=[.!?])\s+|\n+/;

/** The answer of the model unless the question is about the product's name or about how to use Usenet. */
export function finalAnswer({ scope, bundle }: PromptEvidence, question: string, text: string): string {
  if (scope !== 'stack') return text;
  const product = isObject(bundle.dumb_product) ? bundle.dumb_product : {};
  const name = String(product.name ?? '');
  if (asksForName(question, name)) return nameAnswer(product);
  if (!isPlanning(question) || !/usenet/i.test(question)) return text;
  const canonical = usenetAnswer(bundle);
  const rules = isObject(bundle.dumb_workflow_rules) ? bundle.dumb_workflow_rules : {};
  const externals = textsOf(rules.not_primary_dumb_services);
  const isAskedFor = externals.some(external => mentions(question, external));
  const isReplaced = !isAskedFor && advisesOneOf(text, externals);
  return isReplaced || text.trim() === '' ? canonical : `${canonical}\n\n## Provider Notes\n\n${text}`;
}

function asksForName(question: string, name: string): boolean {
  if (name === '' || !mentions(question, name)) return false;
  const text = question.toLowerCase().replaceAll('’', "'");
  const is = ['what is', "what's"].map(words => `${words} ${name.toLowerCase()}`);
  return [...IDENTITY, ...is].some(words => text.includes(words));
}

function nameAnswer({ name, expansion, description }: Readonly<Record<string, unknown>>): string {
  return [
    '## Direct Answer',
    '',
    `**${String(name)}** stands for **${String(expansion)}**.`,
    '',
    `${String(description)} This is how the product itself defines its name.`,
  ].join('\n');
}

function usenetAnswer(bundle: PromptEvidence['bundle']): string {
  const catalog = isObject(bundle.dumb_service_catalog) ? bundle.dumb_service_catalog : {};
  const workflows = entriesOf(catalog.usenet_workflows);
  const support = [...entriesOf(catalog.arr_apps), ...entriesOf(catalog.indexers_and_support)];
  const names = workflows.map(({ service }) => String(service));
  const states = entriesOf(bundle.processes);
  const stateOf = ({ service, config_key: key }: Readonly<Record<string, unknown>>): string => {
    const found = states.find(
      state =>
        state.enabled === true && (state.config_key === key || mentions(String(state.process_name), String(service))),
    );
    return found === undefined ? 'not currently enabled/listed' : String(found.status);
  };
  return [
    '## Direct Answer',
    '',
    `Use one of ${names.join(', ')} for Usenet. No external download client is needed.`,
    '',
    '## Recommended Path',
    '',
    ...workflows.map(({ service, role, use_when: when }) =>
      `- **${service}**: ${role}. ${when ? `Choose it when: ${when}.` : ''}`.trimEnd(),
    ),
    '',
    '## Support Services',
    '',
    ...support.map(({ service, role }) => `- **${service}**: ${role}`),
    '',
    '## Current Stack Signal',
    '',
    ...[...workflows, ...support].map(entry => `- ${String(entry.service)}: ${stateOf(entry)}`),
    '',
    '## Next Steps',
    '',
    ...textsOf(catalog.guidance).map((step, index) => `${index + 1}. ${step}`),
  ].join('\n');
}

/** Whether a sentence advises the use of one of these names. A sentence with a negation does not. */
function advisesOneOf(text: string, names: readonly string[]): boolean {
  return text
    .split(SENTENCE_END)
    .some(
      sentence => ADVICE.test(sentence) && !NEGATION.test(sentence) && names.some(name => mentions(sentence, name)),
    );
}

/** Whether the name is in the text as a whole word. */
function mentions(text: string, name: string): boolean {
  const lower = text.toLowerCase();
  const word = name.toLowerCase();
  for (let at = lower.indexOf(word); at >= 0; at = lower.indexOf(word, at + 1)) {
    const around = `${lower.charAt(at - 1)}${lower.charAt(at + word.length)}`;
    if (word !== '' && !/\w/.test(around)) return true;
  }
  return false;
}

function entriesOf(value: unknown): readonly Readonly<Record<string, unknown>>[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

function textsOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter(entry => typeof entry === 'string') : [];
}
