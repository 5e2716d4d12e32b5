// What a provider is sent about a stack, and what is shown of its answer.
import t from 'tap';
import { compacted } from '../../../plugins/ai/prompt/compaction.ts';
import { finalAnswer } from '../../../plugins/ai/prompt/final-answer.ts';
import { firstMessages, furtherMessages, type PromptTurn } from '../../../plugins/ai/prompt/messages.ts';

const many = <Value>(length: number, make: (index: number) => Value): Value[] =>
  Array.from({ length }, (_, index) => make(index));
const mapOf = (length: number, value: unknown) =>
  Object.fromEntries(many(length, index => [`Service ${index}`, value]));

const facts = {
  dumb_product: { name: 'DUMB', expansion: 'Some Words', description: 'It runs things.', do_not_expand_as: ['Other'] },
  dumb_service_catalog: {
    usenet_workflows: [{ service: 'Alpha', config_key: 'alpha', role: 'Client', use_when: 'you stream' }],
    arr_apps: [{ service: 'Beta', role: 'Series' }],
    indexers_and_support: [{ service: 'Gamma', role: 'Indexers' }],
    guidance: ['Choose one.'],
  },
  dumb_workflow_rules: { not_primary_dumb_services: ['NZBGet'], rules: ['Rule one.'] },
};
const stack = {
  ...facts,
  question: '',
  stack_summary: { counts: { total: 99 }, attention: { unhealthy: many(9, () => ({})) } },
  processes: [
    { process_name: 'Alpha', config_key: 'alpha', enabled: true, status: 'running' },
    ...many(99, index => ({ process_name: `Service ${index}`, enabled: false })),
  ],
  dependency_graph: {
    scope: 'runtime',
    partial: false,
    nodes: many(50, index => ({ id: `n${index}`, label: 'x', state: 'running', key: 'k', extra: 1 })),
    edges: many(70, () => ({ source: 'a', target: 'b', strength: 'hard', signals: [], extra: 1 })),
    errors: many(9, () => ({})),
  },
  docs_context: { available: true, sources: many(6, index => ({ title: `${index}`, excerpt: 'd'.repeat(2_000) })) },
  logs: mapOf(5, { file: 'a.log', content: `${'o'.repeat(5_000)}end` }),
  log_analysis: mapOf(3, {
    coverage: { available: true },
    levels: { error: 1 },
    restart_markers: 1,
    stop_markers: 0,
    top_error_signatures: many(15, () => ({})),
    new_error_signatures: many(10, () => ({})),
    longest_activity_gap_seconds: 400,
    excerpts: many(20, index => ({ line: index })),
  }),
  service_configs: mapOf(9, { a: 1 }),
  runtime_metrics: { available: true, services: mapOf(40, {}) },
  change_history: many(50, index => ({ id: index })),
};

// biome-ignore lint/suspicious/noExplicitAny: the test looks into data of any shape
const compactedFor = (question: string, budgetChars = 400_000): any =>
  compacted({ scope: 'stack', bundle: stack, question, budgetChars });

t.test('the evidence of a stack is sent in a compact form', async t => {
  const form = compactedFor('Why is it slow?');
  t.equal(form.analysis_mode, 'diagnostic');
  t.equal(form.stack_summary.attention.unhealthy.length, 5);
  t.equal(form.processes.length, 30);
  t.same(form.dependency_graph.omitted, { nodes: 10, edges: 10 });
  t.same(form.dependency_graph.nodes[0], { id: 'n0', label: 'x', state: 'running', key: 'k' });
  t.equal(form.dependency_graph.errors.length, 5);
  t.ok(
    form.docs_context.sources.every(({ excerpt }: { excerpt: string }) => /\n\[TRUNCATED \d+ chars\]$/.test(excerpt)),
  );
  t.ok(JSON.stringify(form.docs_context).length < 4_500);
  t.equal(Object.keys(form.logs).length, 2);
  t.match(form.logs['Service 0'].content, /^\[TRUNCATED \d+ chars\]\no+end$/);
  const analysis = form.log_analysis['Service 0'];
  t.equal(analysis.longest_activity_gap_seconds, undefined);
  t.match([analysis.top_error_signatures.length, analysis.new_error_signatures.length], [5, 5]);
  t.same(
    analysis.excerpts.map(({ line }: { line: number }) => line),
    many(8, index => index + 12),
    'the newest excerpts',
  );
  t.match(form, { service_configs: undefined, service_configs_note: /left out/ });
  t.equal(Object.keys(form.runtime_metrics.services).length, 30);
  t.equal(form.change_history.length, 20);
  t.match(compactedFor('Which services should I use?'), {
    analysis_mode: 'workflow_planning',
    logs: undefined,
    logs_note: /left out/,
    log_analysis: undefined,
  });
  t.ok(JSON.stringify(compactedFor('Why?', 12_000)).length <= 12_000, 'within what the provider takes');
  t.equal(stack.processes.length, 100, 'the whole bundle stays as it is');
});

t.test('messages hold the question, rules and evidence, and previous turns', async t => {
  const evidence = { scope: 'stack' as const, bundle: { ...facts, question: 'Why?', b: 1, a: { d: 1, c: 2 } } };
  const [system, user, ...others] = firstMessages(evidence);
  t.same(others, []);
  t.match(system, { role: 'system', content: /DUMB stands for Some Words, and never for: Other/ });
  t.match(user, {
    role: 'user',
    content: /^Question: Why\?\n(?:.*\n)*Rule one\.\n(?:.*\n)*\{"a":\{"c":2,"d":1\},"b":1,/,
  });
  const turns: PromptTurn[] = many(8, index => ({ question: `q${index}`, answer: `a${index} ${'x'.repeat(5_000)}` }));
  const further = furtherMessages(evidence, { turns, question: 'Next?' });
  t.same(
    further.map(({ role }) => role),
    ['system', ...many(4, () => ['user', 'assistant']).flat(), 'user'],
    'the newest turns that fit, oldest first',
  );
  t.match(further[1]?.content, /q4$/);
  t.match(further.at(-1)?.content, /^Next\?\n\n.*another window/);
  const long = furtherMessages(evidence, { turns: [{ question: 'q', answer: 'y'.repeat(90_000) }], question: 'Next?' });
  t.ok((long[2]?.content.length ?? 0) < 24_001, 'a single turn is cut');
  t.equal(furtherMessages(evidence, { turns: [], question: 'Next?' }).length, 2);
});

t.test('questions about the name of the product get its own answer', async t => {
  const answer = (question: string, text: string, scope: 'stack' | 'service' = 'stack') =>
    finalAnswer({ scope, bundle: stack }, question, text);
  for (const question of [
    'What is DUMB?',
    "what's dumb",
    'What does DUMB stand for?',
    'Define DUMB',
    'DUMB: full name?',
  ])
    t.match(
      answer(question, 'Docker something'),
      /^## Direct Answer\n\n\*\*DUMB\*\* stands for \*\*Some Words\*\*/,
      question,
    );
  for (const question of ['What is DUMBO?', 'What is slow in DUMB?', 'Is this dumb?'])
    t.equal(answer(question, 'As it is.'), 'As it is.', question);
  t.equal(answer('What is DUMB?', 'As it is.', 'service'), 'As it is.', 'only of stacks');

  const asked = 'Recommend a Usenet setup';
  for (const advice of ['Install NZBGet.', 'Beta is fine.\nChoose nzbget as the download client'])
    t.notMatch(answer(asked, advice), /Provider Notes/, advice);
  for (const advice of ['Do not install NZBGet.', 'Use Alpha. NZBGet was running.', 'Set up Alpha, never NZBGet'])
    t.match(answer(asked, advice), new RegExp(`## Provider Notes\n\n${advice}$`), advice);
  t.match(answer(`${asked} with NZBGet`, 'Install NZBGet.'), /## Provider Notes/, 'who asks for it hears of it');
  const canonical = answer(asked, '');
  t.match(canonical, /- Alpha: running\n- Beta: not currently enabled\/listed/);
  for (const heading of ['Direct Answer', 'Recommended Path', 'Support Services', 'Current Stack Signal', 'Next Steps'])
    t.match(canonical, new RegExp(`## ${heading}\n`));
});
