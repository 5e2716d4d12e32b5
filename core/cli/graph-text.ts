// Draws the dependency graph of a running service as Mermaid text, from the service's own API.

const NEEDS_TOKEN =
  'the service requires a login; set STACKWARDEN_TOKEN to the access_token that POST /auth/login answers';
const OLD_TOKEN = 'the token in STACKWARDEN_TOKEN is not accepted any more; POST /auth/login answers a new one';

interface Answer {
  readonly nodes: readonly { readonly process_name: string; readonly state: string }[];
  readonly edges: readonly {
    readonly source: string;
    readonly target: string;
    readonly signals: readonly string[];
    readonly classification: string;
  }[];
}

export interface GraphRequest {
  /** Base URL of the native listener. */
  readonly base: string;
  /** undefined means everything that is enabled. */
  readonly processName: string | undefined;
  readonly scope: string;
  /** Bearer token, for a service that requires a login. */
  readonly token: string | undefined;
}

/** Throws an Error that says what to do when the service refuses. */
export async function graphText({ base, processName, scope, token }: GraphRequest): Promise<string> {
  const get = async (pathAndQuery: string): Promise<unknown> => {
    const answer = await fetch(base + pathAndQuery, {
      headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
    });
    const body: unknown = await answer.json();
    if (answer.status === 401) throw new Error(token === undefined ? NEEDS_TOKEN : OLD_TOKEN);
    if (!answer.ok) throw new Error(String((body as { detail?: unknown }).detail ?? `HTTP ${answer.status}`));
    return body;
  };
  const names = processName === undefined ? await enabledNames(get) : [processName];
  const answers: Answer[] = [];
  for (const name of names) {
    const query = new URLSearchParams({ process_name: name, scope });
    answers.push((await get(`/process/dependency-graph?${query}`)) as Answer);
  }
  return draw(answers, processName === undefined ? new Set(names) : undefined);
}

async function enabledNames(get: (path: string) => Promise<unknown>): Promise<string[]> {
  const { processes } = (await get('/process/processes')) as {
    processes: { readonly process_name: string; readonly enabled: boolean }[];
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
  return `flowchart LR\n${lines.join('\n')}\n`;
}

/** Replaces characters that Mermaid cannot have in a label. */
function plain(text: string): string {
  return text.replaceAll(/[^\p{L}\p{N} .,:;()/_+-]/gu, ' ');
}
