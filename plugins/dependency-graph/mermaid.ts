// Draws the dependency graph of the running host as Mermaid text, from what its routes answer.
import type { HostClient } from '#core';

interface Answer {
  readonly nodes: readonly { readonly process_name: string; readonly state: string }[];
  readonly edges: readonly {
    readonly source: string;
    readonly target: string;
    readonly signals: readonly string[];
    readonly classification: string;
  }[];
}

export interface DrawingRequest {
  /** undefined means everything that is enabled. */
  readonly name: string | undefined;
  readonly scope: string;
}

export async function mermaid(host: HostClient, { name, scope }: DrawingRequest): Promise<string> {
  const names = name === undefined ? await enabledNames(host) : [name];
  const answers: Answer[] = [];
  for (const process_name of names)
    answers.push((await host.get('/process/dependency-graph', { process_name, scope })) as Answer);
  return draw(answers, name === undefined ? new Set(names) : undefined);
}

async function enabledNames(host: HostClient): Promise<string[]> {
  const { processes } = (await host.get('/process/processes')) as {
    processes: readonly { readonly process_name: string; readonly enabled: boolean }[];
  };
  return processes.filter(entry => entry.enabled).map(entry => entry.process_name);
}

/** Draws only what is in `only`, or everything when it is undefined. */
function draw(answers: readonly Answer[], only: ReadonlySet<string> | undefined): string {
  const isDrawn = (name: string): boolean => only?.has(name) !== false;
  const states = new Map(answers.flatMap(({ nodes }) => nodes.map(node => [node.process_name, node.state] as const)));
  const edges = new Map(
    answers.flatMap(answer => answer.edges.map(edge => [`${edge.source}\0${edge.target}`, edge] as const)),
  );
  const ids = new Map(
    [...states.keys()]
      .filter(isDrawn)
      .sort()
      .map((name, index) => [name, `n${index + 1}`]),
  );
  const lines = [...ids].map(([name, id]) => `  ${id}["${plain(name)}<br/>${states.get(name)}"]`);
  for (const { source, target, signals, classification } of edges.values()) {
    if (!isDrawn(source) || !isDrawn(target)) continue;
    const arrow = classification === 'hard' ? '-->' : '-.->';
    lines.push(`  ${ids.get(source)} ${arrow}|${signals.map(plain).join('<br/>')}| ${ids.get(target)}`);
  }
  return `flowchart LR\n${lines.join('\n')}`;
}

/** Replaces characters that Mermaid cannot have in a label. */
function plain(text: string): string {
  return text.replaceAll(/[^\p{L}\p{N} .,:;()/_+-]/gu, ' ');
}
