// Places the services of a graph in columns: each to the right of the services that it needs, near its neighbours.

export interface GraphEdge {
  /** The service that is needed. */
  readonly source: string;
  /** The service that needs it. */
  readonly target: string;
  readonly isHard: boolean;
}

export interface PlacedNode {
  readonly name: string;
  readonly x: number;
  readonly y: number;
}

export interface GraphLayout {
  readonly nodes: readonly PlacedNode[];
  readonly width: number;
  readonly height: number;
}

export const NODE_WIDTH = 180;
export const NODE_HEIGHT = 44;
const COLUMN_GAP = 80;
const ROW_GAP = 18;
const MARGIN = 16;
const SWEEPS = 4;
/** Services without a connection fill a block of this many columns below the others. */
const LOOSE_COLUMNS = 4;

export function layoutOf(names: readonly string[], edges: readonly GraphEdge[]): GraphLayout {
  const connected = new Set(edges.flatMap(({ source, target }) => [source, target]));
  const columns = sorted(
    columnsOf(
      names.filter(name => connected.has(name)),
      edges,
    ),
    edges,
  );
  const loose = names.filter(name => !connected.has(name));
  const rows = Math.max(0, ...columns.map(column => column.length));
  const nodes: PlacedNode[] = [];
  for (const [at, column] of columns.entries()) {
    const above = (rows - column.length) / 2;
    for (const [row, name] of column.entries()) nodes.push(placed(name, at, row + above));
  }
  for (const [index, name] of loose.entries())
    nodes.push(placed(name, index % LOOSE_COLUMNS, rows + Math.floor(index / LOOSE_COLUMNS)));
  const right = Math.max(0, ...nodes.map(({ x }) => x)) + NODE_WIDTH + MARGIN;
  const bottom = Math.max(0, ...nodes.map(({ y }) => y)) + NODE_HEIGHT + MARGIN;
  return { nodes, width: right, height: bottom };
}

function placed(name: string, column: number, row: number): PlacedNode {
  return { name, x: MARGIN + column * (NODE_WIDTH + COLUMN_GAP), y: MARGIN + row * (NODE_HEIGHT + ROW_GAP) };
}

/**
 * A service comes one column after the last of the services that it needs. An edge that closes a cycle is not followed.
 */
function columnsOf(names: readonly string[], edges: readonly GraphEdge[]): string[][] {
  const needs = new Map<string, string[]>();
  for (const { source, target } of edges) needs.set(target, [...(needs.get(target) ?? []), source]);
  const depths = new Map<string, number>();
  const under = new Set<string>();
  const depthOf = (name: string): number => {
    const known = depths.get(name);
    if (known !== undefined) return known;
    under.add(name);
    const before = (needs.get(name) ?? []).filter(other => !under.has(other)).map(depthOf);
    under.delete(name);
    const depth = before.length === 0 ? 0 : Math.max(...before) + 1;
    depths.set(name, depth);
    return depth;
  };
  const columns: string[][] = [];
  for (const name of names) {
    const depth = depthOf(name);
    while (columns.length <= depth) columns.push([]);
    columns[depth]?.push(name);
  }
  return columns.filter(column => column.length > 0);
}

/** Orders each column by the mean place of the neighbours, several times, which leaves few crossings. */
function sorted(columns: readonly string[][], edges: readonly GraphEdge[]): string[][] {
  const neighbours = new Map<string, string[]>();
  for (const { source, target } of edges) {
    neighbours.set(source, [...(neighbours.get(source) ?? []), target]);
    neighbours.set(target, [...(neighbours.get(target) ?? []), source]);
  }
  let result = columns.map(column => [...column]);
  for (let sweep = 0; sweep < SWEEPS; sweep += 1) {
    const places = new Map<string, number>();
    for (const column of result) for (const [row, name] of column.entries()) places.set(name, row - column.length / 2);
    const meanOf = (name: string): number => {
      const found = (neighbours.get(name) ?? []).map(other => places.get(other) ?? 0);
      return found.reduce((sum, place) => sum + place, 0) / Math.max(1, found.length);
    };
    result = result.map(column => column.toSorted((a, b) => meanOf(a) - meanOf(b)));
  }
  return result;
}
