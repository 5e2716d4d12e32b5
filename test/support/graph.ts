import { pluginNames, startHost, type TestHost, type TestHostOptions } from './host.ts';

const BASE = ['config', 'process', 'service-templates', 'config-files', 'format-xml', 'dependency-graph'];

// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of any shape
export type Answer = any;

export interface GraphHost {
  readonly app: TestHost;
  /** The answer for one process. */
  of(processName: string, scope?: 'runtime' | 'all'): Promise<Answer>;
}

export async function startGraph(
  t: { teardown(fn: () => unknown): void },
  config: Record<string, unknown>,
  options: Partial<TestHostOptions> = {},
): Promise<GraphHost> {
  const signals = (await pluginNames()).filter(name => name.startsWith('signal-') || name === 'waittcp');
  const app = await startHost({ config, plugins: [...BASE, ...signals], ...options });
  t.teardown(() => app.stop());
  return {
    app,
    async of(processName, scope = 'runtime') {
      const answer = await app.get(
        `/process/dependency-graph?process_name=${encodeURIComponent(processName)}&scope=${scope}`,
      );
      if (answer.status !== 200) throw new Error(`${answer.status}: ${answer.text}`);
      return answer.body;
    },
  };
}

/** Keys of the dependency rows. */
export const keysOf = (answer: Answer): string[] => answer.dependency_rows.map((row: Answer) => row.key);

/** Edges as `dependency -> dependent: signals`. */
export const edgesOf = (answer: Answer): string[] =>
  answer.edges.map((edge: Answer) => `${edge.source} -> ${edge.target}: ${edge.signals.join(' ')}`);
