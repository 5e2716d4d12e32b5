// Draws the dependency graph of the running host as Mermaid text, from what its routes answer.
import type { HostClient } from '#core';
import { hostAnswer } from '#kit/host-answer';

interface Answer {
  readonly nodes: readonly {
    readonly process_name: string;
    readonly state: string;
    /** Present in the answer about all processes. */
    readonly enabled?: boolean;
  }[];
  readonly edges: readonly {
    readonly source: string;
    readonly target: string;
    readonly signals: readonly string[];
    readonly classification: string;
  }[];
}

const EXAMPLE = {
  nodes: [{ process_name: '', state: '' }],
  edges: [{ source: '', target: '', signals: [''], classification: '' }],
};

export interface DrawingRequest {
  /** undefined means everything that is enabled. */
  readonly name: string | undefined;
  readonly scope: string;
}

export async function mermaid(host: HostClient, { name, scope }: DrawingRequest): Promise<string> {
  if (name !== undefined)
    return draw(
      hostAnswer<Answer>(await host.get('/process/dependency-graph', { process_name: name, scope }), EXAMPLE),
    );
  const { nodes, edges } = hostAnswer<Answer>(await host.get('/process/dependency-graph/whole', { scope }), EXAMPLE);
  return draw({ nodes: nodes.filter(({ enabled }) => enabled), edges });
}

/** Edges to processes that are no nodes are left out. */
function draw({ nodes, edges }: Answer): string {
  const sorted = nodes.toSorted((a, b) => (a.process_name < b.process_name ? -1 : 1));
  const ids = new Map(sorted.map(({ process_name: name }, index) => [name, `n${index + 1}`]));
  const lines = sorted.map(({ process_name: name, state }) => `  ${ids.get(name)}["${plain(name)}<br/>${state}"]`);
  for (const { source, target, signals, classification } of edges) {
    if (!ids.has(source) || !ids.has(target)) continue;
    const arrow = classification === 'hard' ? '-->' : '-.->';
    lines.push(`  ${ids.get(source)} ${arrow}|${signals.map(plain).join('<br/>')}| ${ids.get(target)}`);
  }
  return `flowchart LR\n${lines.join('\n')}`;
}

/** Replaces characters that Mermaid cannot have in a label. */
function plain(text: string): string {
  return text.replaceAll(/[^\p{L}\p{M}\p{N} .,:;()/_+-]/gu, ' ');
}
