// Every known service, with three instances where instances are possible: the whole graph in readable form.
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { type Answer, startGraph } from '../../support/graph.ts';

const skip = !existsSync(new URL('../../../plugins/dependency-graph/index.ts', import.meta.url));
const templates = fileURLToPath(new URL('../../../templates/services', import.meta.url));

t.snapshotFile = fileURLToPath(new URL('./whole-stack.snapshot.cjs', import.meta.url));

t.test('all services, both scopes', { skip, timeout: 120_000 }, async t => {
  const config: Record<string, unknown> = {};
  for (const file of await readdir(templates)) {
    const { key, instance, displayName } = JSON.parse(await readFile(path.join(templates, file), 'utf8'));
    if (key.startsWith('dumb_')) continue;
    const member = (name: string) => ({
      enabled: true,
      process_name: `${displayName} ${name}`,
      core_service: CORES[name],
    });
    config[key] =
      instance === undefined
        ? { enabled: true }
        : { instances: { One: member('One'), Two: member('Two'), Three: { ...member('Three'), enabled: false } } };
  }
  const { app, of } = await startGraph(t, config, {
    deadlines: { importMs: 60_000, setupMs: 60_000, disposeMs: 60_000 },
  });
  const { processes } = (await app.get('/process/processes')).body;
  const lines: string[] = [];
  const told: Record<string, Set<string>> = { runtime: new Set(), all: new Set() };
  for (const { process_name: name } of processes) {
    const [runtime, all] = [await of(name), await of(name, 'all')];
    for (const { scope, edges } of [runtime, all]) for (const edge of edges) told[scope]?.add(JSON.stringify(edge));
    const soft = all.edges.filter((edge: Answer) => edge.classification === 'linkage').map(endOf(name));
    lines.push(
      [
        name,
        `  mode: ${runtime.context.mode}`,
        `  order: ${runtime.startup_order.map((step: Answer) => step.key).join(', ')}`,
        ...runtime.linked_outgoing_rows.map((row: Answer) => `  needs ${row.process_name} (${row.signals.join(', ')})`),
        ...runtime.linked_incoming_rows.map(
          (row: Answer) => `  needed by ${row.process_name} (${row.signals.join(', ')})`,
        ),
        ...soft.map((other: string) => `  goes with ${other}`),
        ...runtime.cycles.map((cycle: string[]) => `  cycle: ${cycle.join(', ')}`),
      ].join('\n'),
    );
  }
  for (const [scope, edges] of Object.entries(told)) {
    const { body } = await app.get(`/process/dependency-graph/whole?scope=${scope}`);
    t.same(body.edges.map((edge: Answer) => JSON.stringify(edge)).sort(), [...edges].sort(), `at once: ${scope}`);
    t.equal(body.nodes.length, processes.length);
  }
  t.equal((await app.get('/process/dependency-graph/whole?scope=some')).status, 400);
  t.matchSnapshot(lines.join('\n\n'), 'every process');
});

/** The core services to which the instances belong. */
const CORES: Readonly<Record<string, string>> = { One: 'riven_backend', Two: 'cli_debrid, decypharr', Three: '' };

function endOf(name: string) {
  return (edge: Answer): string => (edge.source === name ? edge.target : edge.source);
}
