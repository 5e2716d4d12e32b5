// Starts a host with the dependency graph and all its signals, and reads the graph's answers.
import { pluginNames, startHost, type TestHost, type TestHostOptions } from './host.ts';

const BASE = ['config', 'process', 'services', 'config-files', 'format-xml', 'dependency-graph'];

/** Plugins, each of which finds dependencies of one kind. */
export const signals = async (): Promise<string[]> =>
  (await pluginNames()).filter(name => /^signal-|^service-(rclone|zilean)$/.test(name));

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
  const app = await startHost({ config, plugins: [...BASE, ...(await signals())], ...options });
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

/** The keys of the dependency rows, in their order. */
export const keysOf = (answer: Answer): string[] => answer.dependency_rows.map((row: Answer) => row.key);

/** The edges as texts `dependency -> dependent: signals`. */
export const edgesOf = (answer: Answer): string[] =>
  answer.edges.map((edge: Answer) => `${edge.source} -> ${edge.target}: ${edge.signals.join(' ')}`);
