/** The side of a node on n8n's canvas, in pixels. */
export const NODE_SIZE = 96;
const COLUMN = 240;
/** A node and the two lines of its name below it. */
const ROW = 192;
const GAP = 48;
const PADDING = 24;
const GRID = 16;
/** Of n8n's sticky notes: an average character, a line, the space between paragraphs. */
const CHARACTER = 7.1;
const LINE = 20.5;
const PARAGRAPH = 10;
/** How much larger than the text the headings are, by the number of their hashes. */
const HEADINGS = [1, 2.2, 1.7, 1.2];

/** A group of nodes on a sticky note, whose text stands above the nodes. */
export interface Group {
  /** The name of the sticky note. */
  note: string;
  /** Its markdown: the height of the note follows from it. */
  text: string;
  /** The width of the note, in columns of one node each. */
  columns: number;
  /** Where the nodes stand, from column 0 and row 0. */
  cells: { name: string; column: number; row: number }[];
}

/** A rectangle on the canvas, in pixels. */
export interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** Where everything stands. */
export interface Layout {
  positions: Map<string, [number, number]>;
  /** The rectangles of the sticky notes, by name. */
  notes: Map<string, Box>;
}

/** Groups beside one another. */
export type Row = Group[];

/**
 * Places stacks of rows of groups from left to right. The first nodes of every stack's first row lie on one
 * line, so that the main way reads straight; further rows of a stack follow below. The nodes of one row of
 * groups are level, whatever the lengths of their texts. A row without nodes begins where the highest note
 * begins.
 */
export function layout(stacks: Row[][]): Layout {
  const positions = new Map<string, [number, number]>();
  const notes = new Map<string, Box>();
  const headroom = Math.max(
    0,
    ...stacks.flatMap(([first]) => (first && hasNodes(first) ? [rowText(first)] : [])),
  );
  let left = 0;
  for (const stack of stacks) {
    const [first] = stack;
    let y = (first && hasNodes(first) ? headroom - rowText(first) : 0) - headroom;
    let right = left;
    for (const row of stack) {
      const text = rowText(row);
      const height =
        text + Math.max(0, ...row.flatMap(({ cells }) => cells.map((cell) => cell.row + 1))) * ROW;
      let x = left;
      for (const { note, columns, cells } of row) {
        const box = { x, y, width: columns * COLUMN, height };
        notes.set(note, box);
        positions.set(note, [x, y]);
        for (const cell of cells) {
          const inset = (COLUMN - NODE_SIZE) / 2;
          positions.set(cell.name, [x + cell.column * COLUMN + inset, y + text + cell.row * ROW]);
        }
        x += box.width + GAP;
      }
      right = Math.max(right, x);
      y += height + GAP;
    }
    left = right;
  }
  return { positions, notes };
}

function hasNodes(row: Row): boolean {
  return row.some(({ cells }) => cells.length > 0);
}

function rowText(row: Row): number {
  return Math.max(0, ...row.map(textHeight));
}

/** Pixels that a note's text needs at its width: an upper estimate, for n8n cuts off what does not fit. */
export function textHeight({ text, columns }: Pick<Group, 'text' | 'columns'>): number {
  const width = columns * COLUMN - 2 * PADDING;
  const height = text.split('\n').reduce((sum, line) => {
    if (line === '') {
      return sum + PARAGRAPH;
    }
    const hashes = /^#*/.exec(line)?.[0].length ?? 0;
    const scale = HEADINGS[hashes] ?? 1;
    const visible = line.replace(/\]\([^)]*\)/g, ']').replace(/[*`#]/g, '').length;
    const lines = Math.max(1, Math.ceil((visible * CHARACTER * scale) / width));
    return sum + lines * LINE * scale;
  }, 2 * PADDING);
  return Math.ceil(height / GRID) * GRID;
}
